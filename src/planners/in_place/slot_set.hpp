// SPDX-License-Identifier: BSD-3-Clause
// Sets of slots, kept as their maximal runs: what a rank knows about a large buffer in few words.
//
// A slot is a place for one unit of data, by number; which bytes that is, the owner of the numbers
// knows (slot_memory.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace tonari {

using Slot = std::uint64_t;

// [begin, end).
struct Slots {
  Slot begin = 0, end = 0;
  std::uint64_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  friend bool operator==(const Slots&, const Slots&) = default;
};

// Logarithmic in the number of runs, and linear in the number of those that an operation makes
// disappear.
class SlotSet {
 public:
  void add(Slots slots);     // none of them is in the set
  void remove(Slots slots);  // as far as they are in the set
  void clear() { ends_.clear(), size_ = 0; }

  std::uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t runs() const { return ends_.size(); }
  static constexpr std::size_t run_bytes = 64;  // of memory: a node of the map
  Slots holding(Slot slot) const;               // the run that holds it; empty if none does
  // the first run from this slot on, without what lies before it; empty if none
  Slots from(Slot slot) const;
  Slots last() const;  // of a set that is not empty

 private:
  std::map<Slot, Slot> ends_;  // of the run that begins there
  std::uint64_t size_ = 0;
};

}  // namespace tonari
