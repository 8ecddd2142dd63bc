#include "planners/graphs/extremes.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace tonari {

Extremes::Extremes(const World& world, std::size_t classes)
    : ranks_(world.ranks()),
      here_(world.here().begin(), world.here().end()),
      key_(here_.size(), none),
      keys_(classes) {}

std::set<Word>& Extremes::keys(std::int32_t rank) {
  return keys_[Hash().word(static_cast<std::uint64_t>(rank)).value() % keys_.size()];
}

Extremes::Entry Extremes::decode(Word key) const {
  const Word rest = (key % ranks_ + ranks_) % ranks_;  // also where key is negative
  return {static_cast<std::int32_t>(ranks_ - 1 - rest), (key - rest) / ranks_};
}

void Extremes::set(std::size_t k, Word value) {
  std::set<Word>& mine = keys(here_[k]);
  if (key_[k] != none) mine.erase(key_[k]);
  key_[k] = value == none ? none : encode(here_[k], value);
  if (key_[k] != none) mine.insert(key_[k]);
}

void Extremes::contribute(std::vector<Word>& words) const {
  for (const std::set<Word>& mine : keys_) words.push_back(mine.empty() ? none : *mine.rbegin());
}

std::vector<Extremes::Entry> Extremes::read(std::span<const Word> combined) const {
  std::vector<Word> found(combined.begin(), combined.end());
  std::erase(found, none);
  std::sort(found.rbegin(), found.rend());
  std::vector<Entry> entries;
  for (Word key : found) entries.push_back(decode(key));
  return entries;
}

Found find(World& world, const Extremes& high, const Extremes& low) {
  std::vector<Word> words;
  high.contribute(words);
  const std::size_t highs = words.size();
  low.contribute(words);
  world.max(words);
  return {high.read(std::span(words).first(highs)), low.read(std::span(words).subspan(highs))};
}

}  // namespace tonari
