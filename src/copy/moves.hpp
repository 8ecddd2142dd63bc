// Byte layouts and the copies between them. Pure: knows nothing of MPI.
//
// A layout lists the bytes of some data in the order in which they travel. A move copies between
// two layouts of equal length. All copies of tonari - packing, unpacking, self blocks -
// are lists of moves made once at init.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tonari {

// count pieces of length bytes each, the first at offset, the next ones stride bytes further on
// each (stride may be negative or 0). In a layout: length and count are positive, a single piece
// has stride 0, and adjacent pieces are one piece.
struct Run {
  std::ptrdiff_t offset;
  std::size_t length;
  std::ptrdiff_t stride;
  std::size_t count;
  friend bool operator==(const Run&, const Run&) = default;
};

class Layout {
 public:
  // Appends bytes in traveling order; joins with the last run where they continue it (contiguously
  // or at its stride; a run of one piece takes any stride). Empty runs vanish. Amortized constant
  // time.
  void add(const Run& run);
  void add(std::ptrdiff_t offset, std::size_t length) { add(Run{offset, length, 0, 1}); }
  // The same bytes, all moved by displacement.
  void add(const Layout& other, std::ptrdiff_t displacement);

  // The bytes from number `first` on, in traveling order; first + bytes is at most the number of
  // all.
  Layout part(std::uint64_t first, std::uint64_t bytes) const;

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
  friend bool operator==(const Move&, const Move&) = default;
};

// Moves that copy the bytes of `from` (relative to from_base) to those of `to`. The layouts have
// equal length (else Errc::internal); about as few moves as their runs allow: pieces whose lengths
// are equal or divide each other are moved many at a time. Appends to moves, and leaves those
// before as they are.
void make_moves(std::vector<Move>& moves, std::byte* to_base, const Layout& to,
                const std::byte* from_base, const Layout& from);

// Performs them in order. Source and target of one move must not overlap. Allocates nothing.
void run_moves(std::span<const Move> moves);

// Whether two of the given placed layouts share a byte of which at least one writes it: used to
// reject overlapping buffers.
struct Placed {
  std::uintptr_t base;
  const Layout* layout;
  std::uint32_t block;  // for the message
  bool written;         // receive block; two blocks that are only read may overlap
};
struct Overlap {
  std::uint32_t first, second;  // indices into the placed list, first < second
};
// Sets overlap and returns true if there is one. A block may overlap itself. n log n in the number
// of runs, and of pieces where runs interleave (columns of one array): at most `most_pieces` of
// those are looked at; what remains then counts as not overlapping.
bool find_overlap(std::span<const Placed> blocks, Overlap& overlap,
                  std::size_t most_pieces = 4'000'000);
// Whether a byte occurs twice.
bool overlaps_itself(const Layout& layout, std::size_t most_pieces = 4'000'000);

}  // namespace tonari
