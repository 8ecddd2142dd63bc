// SPDX-License-Identifier: BSD-3-Clause
#include "device/tiles.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace tonari::test {
namespace {

std::byte place[1 << 16];

std::size_t bytes_of(const std::vector<Move>& moves) {
  return std::accumulate(
      moves.begin(), moves.end(), std::size_t{0},
      [](std::size_t sum, const Move& move) { return sum + move.length * move.count; });
}

TEST(Tiles, AreNoLongerThanABlockTakes) {
  const auto cut = [](const Move& move) { return cut_into_tiles({&move, 1}, 100); };
  std::byte* const to = place;
  const std::byte* const from = place + 4096;
  EXPECT_EQ(cut({to, from, 250, 1, 0, 0}),
            (std::vector<Move>{{to, from, 100, 1, 0, 0},
                               {to + 100, from + 100, 100, 1, 0, 0},
                               {to + 200, from + 200, 50, 1, 0, 0}}));
  EXPECT_EQ(cut({to + 90, from, 30, 4, -30, 40}),
            (std::vector<Move>{{to + 90, from, 30, 3, -30, 40}, {to, from + 120, 30, 1, -30, 40}}));
  EXPECT_EQ(cut({to, from, 120, 2, 200, 120}),
            (std::vector<Move>{{to, from, 100, 1, 0, 0},
                               {to + 100, from + 100, 20, 1, 0, 0},
                               {to + 200, from + 120, 100, 1, 0, 0},
                               {to + 300, from + 220, 20, 1, 0, 0}}));
  EXPECT_EQ(cut({to, from, 30, 4, 30, 30}).size(), 2u);  // one piece of 120
  EXPECT_EQ(cut({to, from, 0, 4, 30, 30}).size(), 0u);
  EXPECT_EQ(cut({to, from, 30, 0, 30, 30}).size(), 0u);
}

TEST(Tiles, CopyTheSameBytes) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::byte> from(20'000), whole(20'000), cut(20'000);
    for (std::byte& byte : from) byte = static_cast<std::byte>(random());
    const std::size_t length = 1 + below(200), count = 1 + below(40);
    const auto to_stride = static_cast<std::ptrdiff_t>(length + below(50));
    const auto from_stride = static_cast<std::ptrdiff_t>(length + below(2) * below(50));
    const Move move{whole.data(), from.data(), length, count, to_stride, from_stride};
    run_moves({&move, 1});
    const Move other{cut.data(), from.data(), length, count, to_stride, from_stride};
    const std::size_t most = 1 + below(300);
    const std::vector<Move> tiles = cut_into_tiles({&other, 1}, most);
    EXPECT_EQ(bytes_of(tiles), length * count);
    for (const Move& tile : tiles) EXPECT_LE(tile.length * tile.count, most);
    run_moves(tiles);
    EXPECT_EQ(cut, whole);
  }
}

}  // namespace
}  // namespace tonari::test
