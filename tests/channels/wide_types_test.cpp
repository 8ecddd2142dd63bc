// SPDX-License-Identifier: BSD-3-Clause
// Datatypes whose bytes lie so far apart that 64 bits hardly hold their distances.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "channels/types.hpp"
#include "mpi/datatype.hpp"
#include "support/errors.hpp"
#include "support/wide_types.hpp"

namespace tonari {
namespace {

using namespace test;

// A type beside what it is by 128 bits.
using Wide = __int128;
struct Known {
  MPI_Datatype type = MPI_BYTE;
  // bytes, where they begin and end, and MPI's bounds
  Wide bytes = 1, low = 0, high = 1, lower = 0, upper = 1;
  // the largest number that was met on the way
  Wide most = 1;
  bool dense = true;  // one piece, from bound to bound

  Wide extent() const { return upper - lower; }
  void meet(Wide number) { most = std::max(most, number < 0 ? -number : number); }
};

// count copies, the first displaced by offset, the next ones stride bytes further on each.
Known copies(Known one, Wide offset, Wide count, Wide stride) {
  const Wide last = offset + stride * (count - 1), least = std::min(offset, last),
             greatest = std::max(offset, last);
  one.dense = one.dense && offset == 0 && (count == 1 || stride == one.extent());
  one.bytes *= count;
  one.low += least, one.lower += least, one.high += greatest, one.upper += greatest;
  for (Wide number : {one.bytes, one.low, one.lower, one.high, one.upper, offset, last, stride})
    one.meet(number);
  return one;
}

Known both(Known a, const Known& b) {
  a.bytes += b.bytes;
  a.low = std::min(a.low, b.low), a.lower = std::min(a.lower, b.lower);
  a.high = std::max(a.high, b.high), a.upper = std::max(a.upper, b.upper);
  a.dense = false;
  for (Wide number : {b.most, a.bytes, a.high - a.low, a.upper - a.lower}) a.meet(number);
  return a;
}

// Of few pieces, at distances of all sizes. Only what is one piece is taken many times.
class WideTypesAtRandom {
 public:
  WideTypesAtRandom(Types& types, unsigned seed) : t_(types), random_(seed) {}

  Known type(int depth) {
    if (depth == 0) return {};
    const Known part = type(depth - 1);
    const Wide extent = part.extent();
    const Ints d{number(30), number(30)};
    const Offsets h{offset(62), offset(62)};
    const int count = from(1, 3), length = part.dense && from(0, 1) ? 1 << from(0, 30) : from(1, 2),
              two = from(1, 2);
    const Known block = copies(part, 0, length, extent);
    switch (from(0, 9)) {
      case 0:
        return with(t_.contiguous(length, part.type), block);
      case 1:
        return with(t_.vector(count, length, d[0], part.type),
                    copies(block, 0, count, d[0] * extent));
      case 2:
        return with(t_.hvector(count, length, h[0], part.type), copies(block, 0, count, h[0]));
      case 3:
        return with(t_.indexed({length, two}, d, part.type),
                    pair(block, d[0] * extent, copies(part, 0, two, extent), d[1] * extent));
      case 4:
        return with(t_.hindexed({length, two}, h, part.type),
                    pair(block, h[0], copies(part, 0, two, extent), h[1]));
      case 5:
        return with(t_.indexed_block(length, d, part.type),
                    pair(block, d[0] * extent, block, d[1] * extent));
      case 6:
        return with(t_.hindexed_block(length, h, part.type), pair(block, h[0], block, h[1]));
      // Of one type: where only one of several has explicit bounds, MPIs differ.
      case 7:
        return with(t_.structure({length, two}, h, {part.type, part.type}),
                    pair(block, h[0], copies(part, 0, two, extent), h[1]));
      case 8:
        return subarray(part);
      default:
        return resized(part);
    }
  }

 private:
  int from(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  // Never -1: Open MPI 4.1 takes a step of -1 byte for the extent of the part.
  std::ptrdiff_t offset(int bits) {
    return (std::ptrdiff_t{1} << from(4, bits)) * (from(0, 1) ? 1 : -1) + from(2, 9);
  }
  int number(int bits) { return static_cast<int>(offset(bits)); }

  static Known with(MPI_Datatype type, Known known) {
    known.type = type;
    return known;
  }
  static Known pair(const Known& a, Wide at, const Known& b, Wide behind) {
    return both(copies(a, at, 1, 0), copies(b, behind, 1, 0));
  }

  // In C order: the second dimension is the fast one.
  Known subarray(const Known& part) {
    const Ints sizes{1 << from(3, 30), 1 << from(3, 30)}, parts{from(1, 2), from(1, 2)},
        starts{from(0, sizes[0] - 2), from(0, sizes[1] - 2)};
    const Wide extent = part.extent(), row = extent * sizes[1];
    Known known =
        copies(copies(part, starts[1] * extent, parts[1], extent), starts[0] * row, parts[0], row);
    known.lower = part.lower, known.upper = part.lower + row * sizes[0], known.dense = false;
    for (Wide number : {row, known.upper, row * sizes[0]}) known.meet(number);
    return with(t_.subarray(sizes, parts, starts, MPI_ORDER_C, part.type), known);
  }
  Known resized(Known part) {
    const MPI_Aint lower = offset(61), extent = MPI_Aint{1} << from(0, 61);
    part.lower = lower, part.upper = Wide{lower} + extent, part.dense = false;
    part.meet(lower), part.meet(part.upper), part.meet(extent);
    return with(t_.resized(lower, extent, part.type), part);
  }

  Types& t_;
  std::mt19937 random_;
};

// Near the limits either may be: it depends on the order in which numbers are added up.
TEST(Datatype, WideOnesAtRandomAreRightOrRefused) {
  const test::ErrorsAreReturned returned;
  constexpr Wide limit = Wide{1} << 63;
  int right = 0, too_wide = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE(seed);
    Types types;
    Known known;
    // this MPI makes none
    if (test::error_of([&] { known = WideTypesAtRandom(types, seed).type(1 + seed % 5); }).code() ==
        Errc::mpi)
      continue;
    Layout layout;
    const Error error = test::error_of([&] { layout = flatten(1, known.type); });
    const bool fits = known.bytes < limit / 2 && known.low >= -limit && known.high < limit &&
                      known.high - known.low < limit;
    if (error.code() == Errc::overflow) {
      ASSERT_GE(known.most, limit / 4) << error.what();
      too_wide += !fits;
      continue;
    }
    ASSERT_EQ(error.code(), Errc::success) << error.what();
    ASSERT_TRUE(fits);
    ASSERT_TRUE(known.bytes == layout.bytes());
    ASSERT_TRUE(known.low == layout.span().first && known.high == layout.span().second);
    ++right;
  }
  EXPECT_GT(right, 500);
  EXPECT_GT(too_wide, 100);
}

}  // namespace
}  // namespace tonari
