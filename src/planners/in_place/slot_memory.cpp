// SPDX-License-Identifier: BSD-3-Clause
#include "planners/in_place/slot_memory.hpp"

#include <algorithm>

namespace tonari {
namespace {

constexpr std::uint64_t endless = UINT64_MAX / 4;

// Elements that continue each other at one stride are one run without an end.
std::vector<Run> runs_of(const Layout& element, std::ptrdiff_t extent) {
  std::vector<Run> runs(element.runs().begin(), element.runs().end());
  if (runs.size() != 1) return runs;
  Run& run = runs.front();
  const auto count = static_cast<std::ptrdiff_t>(run.count);
  if (run.count == 1 && extent == static_cast<std::ptrdiff_t>(run.length))
    run = {run.offset, endless, 0, 1};
  else if (run.count == 1)
    run = {run.offset, run.length, extent, endless / run.length};
  else if (extent == run.stride * count)
    run.count = endless / run.length;
  return runs;
}

}  // namespace

SlotMemory::SlotMemory(std::byte* base, std::ptrdiff_t extent, const Layout& element)
    : base_(reinterpret_cast<std::uintptr_t>(base)),
      extent_(extent),
      runs_(runs_of(element, extent)),
      size_(0) {
  for (const Run& run : runs_) {
    begin_.push_back(size_);
    size_ += run.length * run.count;
    longest_piece_ = std::max<std::uint64_t>(longest_piece_, run.length);
  }
  all_contiguous_ = longest_piece_ == endless;
}

SlotMemory::Position SlotMemory::position(Slot slot) const {
  const std::uint64_t element = slot / size_, inside = slot % size_;
  const auto k = std::upper_bound(begin_.begin(), begin_.end(), inside) - begin_.begin() - 1;
  const std::uint64_t in_run = inside - begin_[k];
  return {&runs_[k], base_ + element * static_cast<std::uintptr_t>(extent_),
          in_run / runs_[k].length, in_run % runs_[k].length};
}

std::byte* SlotMemory::in_buffer(const Position& p) const {
  return reinterpret_cast<std::byte*>(p.origin + static_cast<std::uintptr_t>(p.run->offset) +
                                      p.piece * static_cast<std::uintptr_t>(p.run->stride) +
                                      p.byte);
}

std::byte* SlotMemory::address(Slot slot) const {
  return slot >= room_begin_ ? room_ + (slot - room_begin_) : in_buffer(position(slot));
}

std::uint64_t SlotMemory::contiguous(Slots slots) const {
  if (slots.begin >= room_begin_) return slots.size();
  const Position p = position(slots.begin);
  return std::min<std::uint64_t>(p.run->length - p.byte, slots.size());
}

// The first slots: the rest of a piece that was begun, or whole pieces, or the beginning of one.
SlotMemory::Pieces SlotMemory::pieces(Slots slots) const {
  if (slots.begin >= room_begin_) return {address(slots.begin), slots.size(), 1, 0};
  const Position p = position(slots.begin);
  const std::uint64_t length = p.run->length,
                      whole = p.byte > 0 ? 0
                                         : std::min<std::uint64_t>(slots.size() / length,
                                                                   p.run->count - p.piece);
  if (whole > 0) return {in_buffer(p), length, whole, p.run->stride};
  return {in_buffer(p), std::min<std::uint64_t>(length - p.byte, slots.size()), 1, 0};
}

void SlotMemory::read(Slots from, std::byte* to) const {
  while (!from.empty()) {
    const Pieces p = pieces(from);
    const Move move{to, p.at, p.length, p.count, static_cast<std::ptrdiff_t>(p.length), p.stride};
    run_moves({&move, 1});
    to += p.length * p.count;
    from.begin += p.length * p.count;
  }
}

void SlotMemory::write(const std::byte* from, Slots to) const {
  while (!to.empty()) {
    const Pieces p = pieces(to);
    const Move move{p.at, from, p.length, p.count, p.stride, static_cast<std::ptrdiff_t>(p.length)};
    run_moves({&move, 1});
    from += p.length * p.count;
    to.begin += p.length * p.count;
  }
}

void SlotMemory::copy(Slots from, Slot to) const {
  Slots target{to, to + from.size()};
  while (!from.empty()) {
    const std::uint64_t out = contiguous(from), in = contiguous(target);
    std::uint64_t moved = std::min(out, in);
    if (in == target.size()) {
      moved = from.size();
      read(from, address(target.begin));
    } else if (out == from.size()) {
      moved = from.size();
      write(address(from.begin), target);
    } else {
      const Move move{address(target.begin), address(from.begin), moved, 1, 0, 0};
      run_moves({&move, 1});
    }
    from.begin += moved;
    target.begin += moved;
  }
}

}  // namespace tonari
