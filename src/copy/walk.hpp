// A walk through the bytes of some data, in traveling order, a chunk at a time: gathers them into
// contiguous memory, or scatters them from there. Holds a place and nothing else, so that data of
// any size and shape can be moved in chunks without a list of moves for each.
#pragma once

#include <cstddef>

#include "copy/moves.hpp"

namespace tonari {

class Walk {
 public:
  Walk() = default;
  // Elements of one layout, each `extent` bytes further on. base: what the first one is relative
  // to. The layout must outlive the walk.
  explicit Walk(std::byte* base, const Layout& element, std::ptrdiff_t extent = 0)
      : base_(base), layout_(&element), extent_(extent) {}
  // Contiguous bytes.
  explicit Walk(std::byte* first) : base_(first) {}

  void restart() { element_ = run_ = piece_ = byte_ = 0; }

  // Where the next n bytes lie if they are in one piece, else null. Stays where it is.
  std::byte* straight(std::size_t n) const;

  // The next n bytes (so many must be left). Allocate nothing.
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
  const Layout* layout_ = nullptr;  // null: contiguous
  std::ptrdiff_t extent_ = 0;
  std::size_t element_ = 0, run_ = 0, piece_ = 0, byte_ = 0;
};

}  // namespace tonari
