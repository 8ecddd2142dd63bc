// SPDX-License-Identifier: BSD-3-Clause
// Packed offsets come back as they were given, and their fingerprint tells lists apart.
#include "topology/packed_offsets.hpp"

#include <gtest/gtest.h>

#include <random>

#include "base/error.hpp"

namespace tonari {
namespace {

std::vector<int> random_coordinates(std::mt19937& random, std::size_t count, int least, int most) {
  std::uniform_int_distribution<int> coordinate(least, most);
  std::vector<int> all(count);
  for (int& c : all) c = coordinate(random);
  return all;
}

// Lengths on both sides of what is packed at once, and coordinates that just fit into a byte or do
// not.
TEST(PackedOffsets, ComeBackAsTheyWere) {
  std::mt19937 random(11);
  const std::pair<int, int> ranges[] = {{0, 0},
                                        {-1, 1},
                                        {-128, 127},
                                        {-128, 128},
                                        {-129, 127},
                                        {0, 70000},
                                        {-PackedOffsets::most, PackedOffsets::most}};
  for (const auto& [least, most] : ranges)
    for (int d = 1; d <= max_dimensions; ++d)
      for (const std::size_t count : {0, 1, 7, 8, 16, 63, 64, 65, 300}) {
        const std::vector<int> given =
            random_coordinates(random, count * static_cast<std::size_t>(d), least, most);
        const PackedOffsets packed(given, d);
        ASSERT_EQ(packed.count(), count);
        const std::vector<Vec> list = packed.list();
        ASSERT_EQ(list.size(), count);
        for (std::size_t i = 0; i < count; ++i)
          for (int j = 0; j < max_dimensions; ++j)
            ASSERT_EQ(list[i][j], j < d ? given[i * static_cast<std::size_t>(d) + j] : 0)
                << "offset " << i << ", dimension " << j << ", from " << least << " to " << most;
      }
}

// One coordinate that does not fit anywhere in the list.
TEST(PackedOffsets, FindTheOneThatDoesNotFit) {
  for (std::size_t at = 0; at < 200; ++at) {
    std::vector<int> given(200, -3);
    for (const int c : {-129, 128, 255, 256, -256, 1 << 20}) {
      given[at] = c;
      ASSERT_EQ(PackedOffsets(given, 1).list()[at][0], c) << at;
    }
  }
}

// Each coordinate counts, and its place; so does the end of the list.
TEST(PackedOffsets, OneOtherCoordinateIsAnotherFingerprint) {
  for (const int large : {0, 1000}) {  // in bytes and in words
    std::vector<int> given(3 * 70, 2);
    given[0] = large;
    const std::uint64_t print = PackedOffsets(given, 3).fingerprint();
    EXPECT_EQ(print, PackedOffsets(std::vector<int>(given), 3).fingerprint());
    for (std::size_t at = 1; at < given.size(); ++at) {
      std::vector<int> other = given;
      other[at] = -2;
      EXPECT_NE(print, PackedOffsets(other, 3).fingerprint()) << at;
      if (at + 1 == given.size()) continue;
      std::vector<int> moved = other;
      std::swap(moved[at], moved[at + 1]);
      EXPECT_NE(PackedOffsets(other, 3).fingerprint(), PackedOffsets(moved, 3).fingerprint()) << at;
    }
    given.resize(3 * 69);
    EXPECT_NE(print, PackedOffsets(given, 3).fingerprint());
  }
}

TEST(PackedOffsets, EndsAndDimensionsAreAFingerprintsOwn) {
  const std::vector<int> zeros(6, 0);
  EXPECT_NE(PackedOffsets(zeros, 2).fingerprint(), PackedOffsets(zeros, 3).fingerprint());
  EXPECT_NE(PackedOffsets(std::vector<int>(3, 0), 3).fingerprint(),
            PackedOffsets(zeros, 3).fingerprint());
}

// The same list on grids of other sizes or periods is another neighborhood.
TEST(PackedNeighborhood, TheGridCounts) {
  const auto print = [](int size, bool periodic) {
    const bool periods[] = {true, periodic};
    return PackedNeighborhood{Grid(std::vector<int>{2, size}, periods),
                              PackedOffsets(std::vector<int>{1, 0, 0, 1}, 2)}
        .fingerprint();
  };
  EXPECT_EQ(print(3, true), print(3, true));
  EXPECT_NE(print(3, true), print(4, true));
  EXPECT_NE(print(3, true), print(3, false));
}

TEST(PackedOffsets, RefuseWhatIsOutOfRange) {
  for (const int c : {PackedOffsets::most + 1, -PackedOffsets::most - 1}) {
    std::vector<int> given(130, 1);
    given.back() = c;
    try {
      PackedOffsets packed(given, 2);
      ADD_FAILURE() << "took " << c;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::overflow);
      EXPECT_NE(std::string(error.what()).find(std::to_string(c)), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace tonari
