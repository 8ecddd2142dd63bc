// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/distributed_top_k.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace tonari {

DistributedTopK::DistributedTopK(const BspComm& bsp, std::size_t classes)
    : ranks_(bsp.ranks()),
      here_(bsp.here().begin(), bsp.here().end()),
      key_(here_.size(), none),
      keys_(classes) {}

std::set<Word>& DistributedTopK::keys(std::int32_t rank) {
  return keys_[Hash().word(static_cast<std::uint64_t>(rank)).value() % keys_.size()];
}

DistributedTopK::Entry DistributedTopK::decode(Word key) const {
  const Word rest = (key % ranks_ + ranks_) % ranks_;  // also where key is negative
  return {static_cast<std::int32_t>(ranks_ - 1 - rest), (key - rest) / ranks_};
}

void DistributedTopK::set(std::size_t k, Word value) {
  std::set<Word>& mine = keys(here_[k]);
  if (key_[k] != none) mine.erase(key_[k]);
  key_[k] = value == none ? none : encode(here_[k], value);
  if (key_[k] != none) mine.insert(key_[k]);
}

void DistributedTopK::contribute(std::vector<Word>& words) const {
  for (const std::set<Word>& mine : keys_) words.push_back(mine.empty() ? none : *mine.rbegin());
}

std::vector<DistributedTopK::Entry> DistributedTopK::read(std::span<const Word> combined) const {
  std::vector<Word> found(combined.begin(), combined.end());
  std::erase(found, none);
  std::sort(found.rbegin(), found.rend());
  std::vector<Entry> entries;
  for (Word key : found) entries.push_back(decode(key));
  return entries;
}

Found find(BspComm& bsp, const DistributedTopK& high, const DistributedTopK& low) {
  std::vector<Word> words;
  high.contribute(words);
  const std::size_t highs = words.size();
  low.contribute(words);
  bsp.max(words);
  return {high.read(std::span(words).first(highs)), low.read(std::span(words).subspan(highs))};
}

}  // namespace tonari
