// Byte layouts and the copies between them. Pure: knows nothing of MPI.
//
// A layout lists the bytes of some data in the order in which they travel. A move copies between two layouts of equal length. All copies of
// tonari - packing, unpacking, blocks that stay at home - are lists of moves made once at init.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tonari {

// count pieces of length bytes each, the first at offset, the next ones stride bytes further on each.
struct Run {
  std::ptrdiff_t offset;
  std::size_t length;
  std::ptrdiff_t stride;
  std::size_t count;
  friend bool operator==(const Run&, const Run&) = default;
};

class Layout {
 public:
  // Appends bytes in travelling order; joins with the last run where they continue it (contiguously or at its stride).
  void add(const Run& run);
  void add(std::ptrdiff_t offset, std::size_t length) { add(Run{offset, length, 0, 1}); }
  // The same bytes, all moved by displacement.
  void add(const Layout& other, std::ptrdiff_t displacement);

  std::span<const Run> runs() const { return runs_; }
  std::uint64_t bytes() const { return bytes_; }
  bool contiguous() const { return runs_.size() <= 1 && (runs_.empty() || runs_[0].count == 1); }
  // Lowest byte and one past the highest; {0, 0} if empty.
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
};

// Moves that copy the bytes of `from` (relative to from_base) to those of `to`. The layouts have equal length (else Errc::internal);
// as few moves as their runs allow. Appends to moves.
void make_moves(std::vector<Move>& moves, std::byte* to_base, const Layout& to, const std::byte* from_base, const Layout& from);

// Performs them. Source and target of one move must not overlap. Allocates nothing.
void run_moves(std::span<const Move> moves);

// The first byte (address) that two of the given placed layouts share, writers against everything: used to reject overlapping buffers.
struct Placed {
  std::uintptr_t base;
  const Layout* layout;
  std::uint32_t block;  // for the message
  bool written;         // receive block; two blocks that are only read may overlap
};
struct Overlap {
  std::uint32_t first, second;  // indices into the placed list
};
// At most `most_pieces` pieces are compared exactly (where spans overlap, but maybe not their bytes); beyond that overlaps are not searched for.
bool find_overlap(std::span<const Placed> blocks, Overlap& overlap, std::size_t most_pieces = 4'000'000);

}  // namespace tonari
