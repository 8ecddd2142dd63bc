// SPDX-License-Identifier: BSD-3-Clause
#include "copy/moves.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace tonari {
namespace {

// Addresses are integers here: a base may be null (MPI_BOTTOM), and steps may lead out of the
// buffer between two pieces.
using Address = std::uintptr_t;

// Pieces of one length at a constant stride, somewhere in memory.
struct Pieces {
  Address at;
  std::size_t length;
  std::size_t count;
  std::ptrdiff_t stride;
};

// Walks through the bytes of a layout.
class Cursor {
 public:
  Cursor(const std::byte* base, const Layout& layout)
      : base_(reinterpret_cast<Address>(base)), runs_(layout.runs()) {}

  bool done() const { return run_ == runs_.size(); }

  // What follows: the rest of a piece that was begun, or else the rest of the run.
  Pieces next() const {
    const Run& r = runs_[run_];
    const Address at =
        base_ + static_cast<Address>(r.offset) + static_cast<Address>(r.stride) * piece_ + byte_;
    if (byte_ > 0) return {at, r.length - byte_, 1, 0};
    return {at, r.length, r.count - piece_, r.stride};
  }

  void advance(std::size_t bytes) {
    const Run& r = runs_[run_];
    byte_ += bytes;
    piece_ += byte_ / r.length;
    byte_ %= r.length;
    if (piece_ < r.count) return;
    ++run_;
    piece_ = 0;
  }

 private:
  Address base_;
  std::span<const Run> runs_;
  std::size_t run_ = 0, piece_ = 0, byte_ = 0;
};

// Appends moves, and joins one that continues the last. Earlier moves stay as they are, because
// they may belong to other steps.
class Joiner {
 public:
  explicit Joiner(std::vector<Move>& moves) : moves_(moves), first_(moves.size()) {}

  void add(const Pieces& to, const Pieces& from, std::size_t length, std::size_t count) {
    Move m{reinterpret_cast<std::byte*>(to.at),
           reinterpret_cast<const std::byte*>(from.at),
           length,
           count,
           to.stride,
           from.stride};
    if (count == 1) m.to_stride = m.from_stride = 0;
    if (moves_.size() == first_ || !join(moves_.back(), m)) moves_.push_back(m);
  }

 private:
  static bool join(Move& last, const Move& next) {
    const auto end = static_cast<std::ptrdiff_t>(last.count - 1);
    const std::ptrdiff_t to_step = distance(last.to, next.to) - end * last.to_stride;
    const std::ptrdiff_t from_step = distance(last.from, next.from) - end * last.from_stride;
    const auto length = static_cast<std::ptrdiff_t>(last.length);
    if (last.count == 1 && next.count == 1 && to_step == length && from_step == length) {
      last.length += next.length;
      return true;
    }
    if (last.length != next.length) return false;
    if (last.count > 1 && (last.to_stride != to_step || last.from_stride != from_step))
      return false;
    if (next.count > 1 && (next.to_stride != to_step || next.from_stride != from_step))
      return false;
    last.to_stride = to_step;
    last.from_stride = from_step;
    last.count += next.count;
    return true;
  }

  static std::ptrdiff_t distance(const std::byte* from, const std::byte* to) {
    return static_cast<std::ptrdiff_t>(reinterpret_cast<Address>(to) -
                                       reinterpret_cast<Address>(from));
  }

  std::vector<Move>& moves_;
  std::size_t first_;
};

// Pairs pieces with shorter ones: move(in_wide, in_narrow, count) gets pieces of the narrow length.
// Returns the bytes taken.
//
// If k narrow pieces make one wide piece, their rows are moved row by row or column by column,
// whichever takes fewer moves:
//
//      wide    | 0 1 2 |    | 0 1 2 |    | 0 1 2 | ...      k = 3 columns of many rows
//      narrow  0  1  2   0  1  2   0  1  2  ...
//
// Columns use the same cache lines k times, so this takes only as many rows at a time as stay in
// the cache.
template <class MoveFunction>
std::size_t zip_unequal(const Pieces& wide, const Pieces& narrow, MoveFunction move) {
  constexpr std::size_t most_rows = 256;
  const std::size_t k = wide.length / narrow.length;
  const auto length = static_cast<std::ptrdiff_t>(narrow.length);
  const std::size_t rows =
      wide.length % narrow.length == 0 ? std::min({wide.count, narrow.count / k, most_rows}) : 0;
  if (k < rows) {
    for (std::size_t j = 0; j < k; ++j)
      move(Pieces{wide.at + j * narrow.length, narrow.length, rows, wide.stride},
           Pieces{narrow.at + j * static_cast<Address>(narrow.stride), narrow.length, rows,
                  narrow.stride * static_cast<std::ptrdiff_t>(k)},
           rows);
    return rows * wide.length;
  }
  const std::size_t count = std::min(k, narrow.count);
  move(Pieces{wide.at, narrow.length, count, length}, narrow, count);
  return count * narrow.length;
}

std::size_t zip(Joiner& joiner, const Pieces& to, const Pieces& from) {
  if (to.length > from.length)
    return zip_unequal(to, from, [&](const Pieces& t, const Pieces& f, std::size_t count) {
      joiner.add(t, f, from.length, count);
    });
  if (from.length > to.length)
    return zip_unequal(from, to, [&](const Pieces& f, const Pieces& t, std::size_t count) {
      joiner.add(t, f, to.length, count);
    });
  const std::size_t count = std::min(to.count, from.count);
  joiner.add(to, from, to.length, count);
  return count * to.length;
}

template <std::size_t N>
inline void copy_fixed(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, N);
}

// Copies N to 2N bytes as the first N and the last N, which may overlap.
template <std::size_t N>
inline void copy_ends(std::byte* to, const std::byte* from, std::size_t length) {
  struct Piece {
    std::byte data[N];
  };
  Piece first, last;
  std::memcpy(&first, from, N);
  std::memcpy(&last, from + length - N, N);
  std::memcpy(to, &first, N);
  std::memcpy(to + length - N, &last, N);
}

// Blocks of stencils are short, and there the call of memcpy is most of the cost. Beyond 64 bytes
// its wider registers outweigh the call.
inline void copy(std::byte* to, const std::byte* from, std::size_t length) {
  if (length > 64)
    std::memcpy(to, from, length);
  else if (length > 32)
    copy_ends<32>(to, from, length);
  else if (length >= 16)
    copy_ends<16>(to, from, length);
  else if (length >= 8)
    copy_ends<8>(to, from, length);
  else if (length >= 4)
    copy_ends<4>(to, from, length);
  else if (length >= 2)
    copy_ends<2>(to, from, length);
  else if (length == 1)
    *to = *from;
}

template <class Copy>
inline void copy_strided(const Move& m, Copy copy_piece) {
  std::byte* to = m.to;
  const std::byte* from = m.from;
  for (std::size_t i = 0;;) {
    copy_piece(to, from);
    if (++i == m.count) return;
    to += m.to_stride;
    from += m.from_stride;
  }
}

void run_strided(const Move& m) {
  switch (m.length) {
    case 1:
      return copy_strided(m, copy_fixed<1>);
    case 2:
      return copy_strided(m, copy_fixed<2>);
    case 4:
      return copy_strided(m, copy_fixed<4>);
    case 8:
      return copy_strided(m, copy_fixed<8>);
    case 16:
      return copy_strided(m, copy_fixed<16>);
    default:
      return copy_strided(
          m, [length = m.length](std::byte* to, const std::byte* from) { copy(to, from, length); });
  }
}

}  // namespace

void make_moves(std::vector<Move>& moves, std::byte* to_base, const Layout& to,
                const std::byte* from_base, const Layout& from) {
  if (to.bytes() != from.bytes())
    fail(Errc::internal, "a copy from ", from.bytes(), " to ", to.bytes(),
         " bytes; please report this as a bug");
  Joiner joiner(moves);
  Cursor target(to_base, to), source(from_base, from);
  while (!target.done()) {
    const std::size_t bytes = zip(joiner, target.next(), source.next());
    target.advance(bytes);
    source.advance(bytes);
  }
}

void run_moves(std::span<const Move> moves) {
  for (const Move& m : moves) {
    if (m.count == 1)
      copy(m.to, m.from, m.length);
    else if (m.count > 1)
      run_strided(m);
  }
}

}  // namespace tonari
