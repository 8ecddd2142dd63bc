// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that one-shot calls on an object have made, kept for the same calls to come.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/hash.hpp"
#include "request/agree_on_arguments.hpp"
#include "request/prepared.hpp"

namespace tonari {

// By keys, which may differ between ranks. It changes only where all ranks change it alike, so the
// same exchanges lie in the same places everywhere. Whether one serves a call, ranks vote on.
template <class Key, std::size_t places = 8>
class Kept {
 public:
  using Votes = std::array<bool, places>;

  // For each place whether serves(key, exchange) on this rank.
  template <class Serves>
  Votes votes(Serves serves) const {
    Votes votes{};
    for (std::size_t k = 0; k < places; ++k)
      votes[k] = entries_[k].prepared && serves(entries_[k].key, entries_[k].prepared);
    return votes;
  }
  // The first exchange that serves on all ranks; null if there is none. compared: of with_votes.
  std::shared_ptr<Prepared> take(const Compared& compared) {
    const std::size_t first = compared.count - places;
    for (std::size_t k = 0; k < places; ++k) {
      if (!compared.same[first + k] || compared.said[first + k] != 1) continue;
      entries_[k].used = ++now_;
      return entries_[k].prepared;
    }
    return nullptr;
  }
  // In the place of the least recently used one, which a request that still uses it keeps. All
  // ranks keep an exchange or none does, so nothing is allocated here.
  void put(Key key, std::shared_ptr<Prepared> prepared) {
    Entry& oldest = *std::ranges::min_element(entries_, {}, &Entry::used);
    oldest = {std::move(key), std::move(prepared), ++now_};
  }
  void clear() { entries_ = {}; }

 private:
  struct Entry {
    Key key{};
    std::shared_ptr<Prepared> prepared;
    std::uint64_t used = 0;
  };
  std::array<Entry, places> entries_;
  std::uint64_t now_ = 0;
};

// What ranks compare of a call, and after that their votes.
template <std::size_t n, std::size_t places>
std::array<Alike, n + places> with_votes(const std::array<Alike, n>& things,
                                         const std::array<bool, places>& votes) {
  std::array<Alike, n + places> all;
  std::ranges::copy(things, all.begin());
  for (std::size_t k = 0; k < places; ++k) all[n + k].ballot = votes[k];
  return all;
}

// A call by a number for what ranks compare of it, and one for what only this rank knows.
struct CallNumber {
  std::uint64_t call = 0, buffers = 0;
  bool operator==(const CallNumber&) const = default;
};
template <std::size_t n>
std::uint64_t number_of(const std::array<Alike, n>& things) {
  Hash number;
  for (const Alike& thing : things) number.word(thing.ballot.value);
  return number.value();
}

using KeptCalls = Kept<CallNumber>;

// kept: null where none is of use.
inline KeptCalls::Votes votes_for(const CallNumber& call, const KeptCalls* kept) {
  if (!kept) return {};
  return kept->votes([&](const CallNumber& key, const std::shared_ptr<Prepared>& prepared) {
    return key == call && !prepared->broken();
  });
}

}  // namespace tonari
