// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/friends.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/hash.hpp"

namespace tonari {
namespace {

constexpr std::size_t named = 32;       // to each sender, by each target
constexpr std::size_t most_weight = 4;  // of a name: that two both send where all send says little

// A target to its senders: the weight of each name, and some of the others, evenly spaced from a
// place that differs from sender to sender. The rank below, the number of its targets above.
void introduce(BspComm& bsp, std::size_t k) {
  const std::span<const BspMessage> inbox = bsp.inbox(k);
  const std::size_t n = inbox.size(), count = std::min(named, n - 1);
  if (count == 0) return;
  std::vector<Word> words;
  for (std::size_t i = 0; i < n; ++i) {
    words.assign(1, static_cast<Word>(std::min(most_weight, (n - 1 + count - 1) / count)));
    const std::size_t first =
        static_cast<std::size_t>(Hash().word(bsp.here()[k]).word(inbox[i].from).value() % (n - 1));
    for (std::size_t c = 0; c < count; ++c) {
      const BspMessage& other = inbox[(i + 1 + (first + c * (n - 1) / count) % (n - 1)) % n];
      words.push_back(other.words[0] << 32 | other.from);
    }
    bsp.send(k, inbox[i].from, words);
  }
}

struct Name {
  std::int64_t weight, targets;
  std::int32_t distance, rank;
};

Ranks best_friends(std::span<const BspMessage> inbox, std::int32_t self, std::size_t most) {
  std::vector<std::pair<Word, Word>> heard;  // name, weight
  for (const BspMessage& message : inbox)
    for (Word name : message.words.subspan(1)) heard.emplace_back(name, message.words[0]);
  std::sort(heard.begin(), heard.end());
  std::vector<Name> names;
  for (std::size_t i = 0; i < heard.size(); ++i) {
    const auto rank = static_cast<std::int32_t>(heard[i].first & 0x7fffffff);
    if (names.empty() || names.back().rank != rank)
      names.push_back({0, heard[i].first >> 32, rank ^ self, rank});
    names.back().weight += heard[i].second;
  }
  // one target in common is nothing to share
  std::erase_if(names, [](const Name& name) { return name.weight < 2; });
  std::sort(names.begin(), names.end(), [](const Name& a, const Name& b) {
    return std::tuple(-a.weight, a.targets, a.distance) <
           std::tuple(-b.weight, b.targets, b.distance);
  });
  Ranks friends;
  for (const Name& name : names)
    if (friends.size() < most) friends.push_back(name.rank);
  return friends;
}

}  // namespace

std::vector<Ranks> find_friends(BspComm& bsp, const std::vector<Ranks>& targets,
                                std::size_t most_friends) {
  for (std::size_t k = 0; k < targets.size(); ++k)
    for (std::int32_t target : targets[k])
      if (targets[k].size() > 1) bsp.send(k, target, {static_cast<Word>(targets[k].size())});
  bsp.exchange();
  for (std::size_t k : bsp.receivers()) introduce(bsp, k);
  bsp.exchange();
  std::vector<Ranks> friends(targets.size());
  for (std::size_t k : bsp.receivers())
    friends[k] = best_friends(bsp.inbox(k), bsp.here()[k], most_friends);
  return friends;
}

}  // namespace tonari
