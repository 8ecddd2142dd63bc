// SPDX-License-Identifier: BSD-3-Clause
#include "copy/walk.hpp"

#include <algorithm>

namespace tonari {
namespace {

// Adds integers, because the base may be null (MPI_BOTTOM).
std::byte* moved(std::byte* base, std::ptrdiff_t offset) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) +
                                      static_cast<std::uintptr_t>(offset));
}

// Copies between `count` pieces here and contiguous bytes there.
void copy(std::byte* here, std::ptrdiff_t stride, std::byte* there, std::size_t length,
          std::size_t count, bool out) {
  const auto step = static_cast<std::ptrdiff_t>(length);
  const Move move = out ? Move{there, here, length, count, step, stride}
                        : Move{here, there, length, count, stride, step};
  run_moves({&move, 1});
}

}  // namespace

std::byte* Walk::here(const Run& run) const {
  const auto number = [](std::size_t n) { return static_cast<std::ptrdiff_t>(n); };
  return moved(
      base_, extent_ * number(element_) + run.offset + run.stride * number(piece_) + number(byte_));
}

std::byte* Walk::straight(std::size_t n) const {
  if (!layout_) return moved(base_, static_cast<std::ptrdiff_t>(byte_));
  const Run& run = layout_->runs()[run_];
  return n <= run.length - byte_ ? here(run) : nullptr;
}

// Skips the piece that was begun, or this many whole ones.
void Walk::advance(const Run& run, std::size_t pieces) {
  byte_ = 0;
  piece_ += pieces;
  if (piece_ < run.count) return;
  piece_ = 0;
  if (++run_ < layout_->runs().size()) return;
  run_ = 0;
  ++element_;
}

void Walk::move(std::byte* other, std::size_t n, bool out) {
  if (!layout_) {
    if (other && n > 0) copy(moved(base_, static_cast<std::ptrdiff_t>(byte_)), 0, other, n, 1, out);
    byte_ += n;
    return;
  }
  while (n > 0) {
    const Run& run = layout_->runs()[run_];
    // The rest of a piece, whole pieces, or the beginning of one.
    const bool whole = byte_ == 0 && n >= run.length;
    const std::size_t length = whole ? run.length : std::min(n, run.length - byte_);
    const std::size_t left = run.count - piece_;  // most runs have one piece: no division for it
    const std::size_t count = whole && left > 1 ? std::min(left, n / run.length) : 1;
    if (other) {
      copy(here(run), run.stride, other, length, count, out);
      other += length * count;
    }
    n -= length * count;
    byte_ += length;
    if (byte_ == run.length) advance(run, count);
  }
}

}  // namespace tonari
