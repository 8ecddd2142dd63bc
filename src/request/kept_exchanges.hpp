// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of an object's one-shot calls, kept for the same calls to come.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "request/agree_on_arguments.hpp"
#include "request/prepared.hpp"

namespace tonari {

// By what ranks agree on, so they are the same ones on all ranks, in the same order. The oldest
// goes.
class KeptExchanges {
 public:
  static constexpr std::size_t most = 8;
  // an exchange is kept by all ranks or by none: nothing is allocated later
  KeptExchanges() { kept_.reserve(most); }

  // What ranks compare of a call, and then for each exchange whether it is one for that call here.
  // buffers: what only this rank knows of it. kept: null where none is of use.
  template <std::size_t n>
  static std::array<Alike, n + most> with_votes(const std::array<Alike, n>& things,
                                                const KeptExchanges* kept,
                                                std::uint64_t buffers = 0) {
    std::array<Alike, n + most> all;
    std::ranges::copy(things, all.begin());
    for (std::size_t k = 0; kept && k < kept->kept_.size(); ++k)
      all[n + k].ballot = kept->kept_[k].serves(number_of(things), buffers);
    return all;
  }
  // The first exchange that serves on all ranks; null if there is none.
  std::shared_ptr<Prepared> common(const Compared& votes) const {
    const std::size_t first = votes.same.size() - most;
    for (std::size_t k = 0; k < kept_.size(); ++k)
      if (votes.same[first + k] && votes.said[first + k] == 1) return kept_[k].prepared;
    return nullptr;
  }
  template <std::size_t n>
  static std::uint64_t number_of(const std::array<Alike, n>& things) {
    Hash number;
    for (const Alike& thing : things) number.word(thing.ballot.value);
    return number.value();
  }
  void keep(std::uint64_t call, std::shared_ptr<Prepared> prepared, std::uint64_t buffers = 0) {
    if (kept_.size() == most) kept_.erase(kept_.begin());
    kept_.push_back({call, buffers, std::move(prepared)});
  }
  void clear() { kept_.clear(); }

 private:
  struct Kept {
    std::uint64_t call, buffers;
    std::shared_ptr<Prepared> prepared;
    bool serves(std::uint64_t number, std::uint64_t given) const {
      return call == number && buffers == given && !prepared->broken;
    }
  };
  std::vector<Kept> kept_;
};

}  // namespace tonari
