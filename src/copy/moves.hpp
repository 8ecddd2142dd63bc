// SPDX-License-Identifier: BSD-3-Clause
// Byte layouts and the copies between them, without MPI.
//
// A layout lists the bytes of some data in the order in which they travel. A move copies between
// two layouts of equal length. Packing, unpacking and copying self blocks are lists of moves, made
// once at init.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tonari {

// `count` pieces of `length` bytes each, the first at `offset`, the next ones `stride` bytes
// further (negative or 0, too). In a layout, length and count are positive, a single piece has
// stride 0, and adjacent pieces are one piece.
struct Run {
  std::ptrdiff_t offset;
  std::size_t length;
  std::ptrdiff_t stride;
  std::size_t count;
  friend bool operator==(const Run&, const Run&) = default;
};

class Layout {
 public:
  // Appends bytes in traveling order. They join the last run if they continue it, contiguously or
  // at its stride; a run of one piece takes any stride. Empty runs vanish. Takes amortized constant
  // time.
  void add(const Run& run);
  void add(std::ptrdiff_t offset, std::size_t length) { add(Run{offset, length, 0, 1}); }
  // The same bytes, all shifted by `displacement`.
  void add(const Layout& other, std::ptrdiff_t displacement);

  // The bytes from number `first` on, in traveling order; first + bytes is at most size().
  Layout part(std::uint64_t first, std::uint64_t bytes) const;

  std::span<const Run> runs() const { return runs_; }
  std::uint64_t bytes() const { return bytes_; }
  bool contiguous() const { return runs_.size() <= 1 && (runs_.empty() || runs_[0].count == 1); }
  // The lowest byte and one past the highest; {0, 0} if empty.
  std::pair<std::ptrdiff_t, std::ptrdiff_t> span() const;

 private:
  std::vector<Run> runs_;
  std::uint64_t bytes_ = 0;
};

struct Move {
  std::byte* to;
  const std::byte* from;
  std::size_t length;
  std::size_t count;
  std::ptrdiff_t to_stride;
  std::ptrdiff_t from_stride;
  friend bool operator==(const Move&, const Move&) = default;
};

// Appends moves that copy the bytes of `from` (relative to from_base) to those of `to`, and leaves
// earlier moves as they are. The layouts must have equal length (else Errc::internal). There are
// few moves: pieces of equal lengths, or of lengths that divide each other, go many at a time.
void make_moves(std::vector<Move>& moves, std::byte* to_base, const Layout& to,
                const std::byte* from_base, const Layout& from);

// Performs the moves in order. Source and target of one move must not overlap. Allocates nothing.
void run_moves(std::span<const Move> moves);

// Tells whether two of the placed layouts share a byte that at least one of them writes, so that
// overlapping buffers can be rejected.
struct Placed {
  std::uintptr_t base;
  const Layout* layout;
  std::uint32_t block;  // the number that errors name
  bool written;         // a receive block; two blocks that are only read may overlap
};
struct Overlap {
  std::uint32_t first, second;  // indices into the placed list, first < second
};
// Sets `overlap` and returns true if there is one. A block may overlap itself. Takes n log n in the
// number of runs, and of pieces where runs interleave (columns of one array). It looks at
// most_pieces of those at most; the rest then counts as not overlapping.
bool find_overlap(std::span<const Placed> blocks, Overlap& overlap,
                  std::size_t most_pieces = 4'000'000);
// Tells whether a byte occurs twice.
bool overlaps_itself(const Layout& layout, std::size_t most_pieces = 4'000'000);

}  // namespace tonari
