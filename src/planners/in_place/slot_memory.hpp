// SPDX-License-Identifier: BSD-3-Clause
// Where slots lie in memory. A slot is one byte of the elements of a buffer, counted in the order
// in which they travel: slot k * size + b is byte b of element k. Behind the buffer's slots come
// those of a room that holds bytes as they travel.
//
// So pieces may begin and end inside of elements: room for one byte is enough to move elements of
// any size.
#pragma once

#include <vector>

#include "copy/moves.hpp"
#include "planners/in_place/slot_set.hpp"

namespace tonari {

class SlotMemory {
 public:
  // Element k has its bytes where `element` says, from base + k * extent on.
  SlotMemory(std::byte* base, std::ptrdiff_t extent, const Layout& element);
  void set_room(Slot begin, std::byte* room) { room_begin_ = begin, room_ = room; }

  // A range of slots lies in the buffer or in the room, not in both.
  std::byte* address(Slot slot) const;
  // so many of them, from the first on, lie one behind the other
  std::uint64_t contiguous(Slots slots) const;
  bool all_contiguous() const { return all_contiguous_; }
  // of the buffer's: what lies one behind the other inside of an element
  std::uint64_t longest_piece() const { return longest_piece_; }

  void read(Slots from, std::byte* to) const;
  void write(const std::byte* from, Slots to) const;
  void copy(Slots from, Slot to) const;  // source and target share no slot

 private:
  // Pieces of equal length at a stride, or part of one.
  struct Pieces {
    std::byte* at;
    std::size_t length, count;
    std::ptrdiff_t stride;
  };
  struct Position {
    const Run* run;
    std::uintptr_t origin;  // of the run's element
    std::uint64_t piece, byte;
  };
  Position position(Slot slot) const;
  Pieces pieces(Slots slots) const;
  std::byte* in_buffer(const Position& p) const;

  std::uintptr_t base_;
  std::ptrdiff_t extent_;
  std::vector<Run> runs_;             // of one element, or of the whole buffer if that is one run
  std::vector<std::uint64_t> begin_;  // of each run, in slots
  std::uint64_t size_;                // of one element, in slots
  bool all_contiguous_ = false;
  std::uint64_t longest_piece_ = 0;
  Slot room_begin_ = UINT64_MAX;
  std::byte* room_ = nullptr;
};

}  // namespace tonari
