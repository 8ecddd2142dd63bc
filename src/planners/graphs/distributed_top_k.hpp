// SPDX-License-Identifier: BSD-3-Clause
// The ranks with the highest and with the lowest values of all, while values change: found by one
// reduction, whatever the number of ranks.
//
// Ranks are dealt to classes by a hash, and the reduction has a word per class: with one class it
// finds the one highest, with q classes the q highest of q classes, which are the q highest of all
// as far as these fell into different classes, and the very highest always. A change costs O(log
// ranks here).
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "planners/graphs/bsp_comm.hpp"

namespace tonari {

// Highest values of all ranks; for lowest ones, set their negatives.
class DistributedTopK {
 public:
  static constexpr Word none = std::numeric_limits<Word>::min();
  struct Entry {
    std::int32_t rank;
    Word value;
  };

  DistributedTopK(const BspComm& bsp, std::size_t classes);

  // The value of here()[k], |value| <= 2^31; none: this rank is not asked for, as all are at first.
  void set(std::size_t k, Word value);
  Word value(std::size_t k) const { return key_[k] == none ? none : decode(key_[k]).value; }

  // `contribute` gives the words to be combined by BspComm::max, one per class. `read` returns
  // what they say: the highest come first, and ties go to the lowest rank.
  void contribute(std::vector<Word>& words) const;
  std::vector<Entry> read(std::span<const Word> combined) const;

 private:
  // Values first; of equal ones the lowest rank is the highest key.
  Word encode(std::int32_t rank, Word value) const { return value * ranks_ + (ranks_ - 1 - rank); }
  Entry decode(Word key) const;
  std::set<Word>& keys(std::int32_t rank);

  Word ranks_;
  std::vector<std::int32_t> here_;
  std::vector<Word> key_;             // per rank here
  std::vector<std::set<Word>> keys_;  // per class
};

// The highest of `high` and the highest of `low`, by one reduction. Collective.
struct Found {
  std::vector<DistributedTopK::Entry> high, low;
};
Found find(BspComm& bsp, const DistributedTopK& high, const DistributedTopK& low);

}  // namespace tonari
