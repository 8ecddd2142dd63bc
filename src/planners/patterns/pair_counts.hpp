// SPDX-License-Identifier: BSD-3-Clause
// How many blocks go from one rank to another, for very many pairs of ranks of which few have any;
// and so how many messages each rank sends.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace tonari {

class PairCounts {
 public:
  explicit PairCounts(int ranks, std::size_t expected)
      : sent_(static_cast<std::size_t>(ranks), 0), slots_(std::bit_ceil(2 * expected + 16)) {}

  std::uint32_t count(std::int32_t from, std::int32_t to) const {
    return slots_[place(key(from, to))].count;
  }
  // the true out-degree: pairs (rank, .) with any blocks
  int sent(int rank) const { return sent_[rank]; }

  void add(std::int32_t from, std::int32_t to) {
    const std::uint64_t wanted = key(from, to);
    Slot* slot = &slots_[place(wanted)];
    if (slot->key == unused) {
      if (2 * ++used_ > slots_.size()) {
        grow();
        slot = &slots_[place(wanted)];
      }
      slot->key = wanted;
    }
    sent_[from] += slot->count++ == 0;
  }

  void remove(std::int32_t from, std::int32_t to) {
    sent_[from] -= --slots_[place(key(from, to))].count == 0;
  }

 private:
  static constexpr std::uint64_t unused = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = unused;
    std::uint32_t count = 0;
  };

  static std::uint64_t key(std::int32_t from, std::int32_t to) {
    return static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
  }

  // Where the key is, or where it would be.
  std::size_t place(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ull) >> 20) & mask;
    while (slots_[at].key != key && slots_[at].key != unused) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.key != unused) slots_[place(slot.key)] = slot;
  }

  std::vector<int> sent_;
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace tonari
