// SPDX-License-Identifier: BSD-3-Clause
// Walks through the bytes of some data in traveling order, and gathers or scatters a chunk at a
// time. It holds a position and nothing else, so data of any size and shape can move in chunks
// without a list of moves for each.
#pragma once

#include <cstddef>

#include "copy/moves.hpp"

namespace tonari {

class Walk {
 public:
  Walk() = default;
  // Walks through elements of one layout, each `extent` bytes after the last, the first one
  // relative to `base`. The layout must outlive the walk.
  explicit Walk(std::byte* base, const Layout& element, std::ptrdiff_t extent = 0)
      : base_(base), layout_(&element), extent_(extent) {}
  // Walks through contiguous bytes.
  explicit Walk(std::byte* first) : base_(first) {}

  void restart() { element_ = run_ = piece_ = byte_ = 0; }

  // Where the next n bytes lie if they are one piece, else null. It does not advance.
  std::byte* straight(std::size_t n) const;

  // Both move the next n bytes, of which at least n must be left, and allocate nothing.
  void gather(std::byte* to, std::size_t n) { move(to, n, true); }
  // only read from
  void scatter(const std::byte* from, std::size_t n) {
    move(const_cast<std::byte*>(from), n, false);
  }
  void skip(std::size_t n) { move(nullptr, n, false); }

 private:
  void move(std::byte* other, std::size_t n, bool out);
  std::byte* here(const Run& run) const;
  void advance(const Run& run, std::size_t pieces);

  std::byte* base_ = nullptr;
  const Layout* layout_ = nullptr;  // null if contiguous
  std::ptrdiff_t extent_ = 0;
  std::size_t element_ = 0, run_ = 0, piece_ = 0, byte_ = 0;
};

}  // namespace tonari
