// SPDX-License-Identifier: BSD-3-Clause
// What a rank copies between its own values and its ghosts: few moves of many runs.
#include "vector/program.hpp"

#include <gtest/gtest.h>

namespace tonari {
namespace {

// The box of side^3 values that this rank owns, inside a box of needed places with a margin of 1.
VectorPatterns box(std::int64_t side) {
  VectorPattern pattern;
  const std::int64_t wide = side + 2;
  pattern.owned = side * side * side, pattern.ghost_count = wide * wide * wide;
  for (std::int64_t z = 0; z < side; ++z)
    for (std::int64_t y = 0; y < side; ++y)
      for (std::int64_t x = 0; x < side; ++x) {
        pattern.needs.push_back((z * side + y) * side + x);
        pattern.ghost_places.push_back(((z + 1) * wide + y + 1) * wide + x + 1);
      }
  return {pattern};
}

// Where each value goes, one by one.
std::vector<std::pair<std::int64_t, std::int64_t>> values_of(const std::vector<LocalMove>& moves) {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  for (const LocalMove& m : moves)
    for (std::int64_t run = 0; run < m.runs; ++run)
      for (std::int64_t k = 0; k < m.count; ++k)
        all.emplace_back(m.from.at + run * m.from_step + k, m.to.at + run * m.to_step + k);
  return all;
}

TEST(VectorProgram, RowsOfABoxAreRunsOfFewMoves) {
  constexpr std::int64_t side = 6;
  const VectorPatterns patterns = box(side);
  const VectorProgram forward = compile_vector(patterns, Direction::forward, Buffering::straight);
  std::vector<std::pair<std::int64_t, std::int64_t>> wanted;
  for (std::size_t k = 0; k < patterns.values.needs.size(); ++k)
    wanted.emplace_back(patterns.values.needs[k], patterns.values.ghost_places[k]);
  EXPECT_EQ(values_of(forward.meanwhile), wanted);
  EXPECT_LE(forward.meanwhile.size(), static_cast<std::size_t>(side) + 1);
}

TEST(VectorProgram, SumsGoBackInTheSameOrder) {
  const VectorPatterns patterns = box(3);
  const VectorProgram reverse = compile_vector(patterns, Direction::reverse, Buffering::copied);
  std::vector<std::pair<std::int64_t, std::int64_t>> wanted;
  for (std::size_t k = 0; k < patterns.values.needs.size(); ++k)
    wanted.emplace_back(patterns.values.ghost_places[k], patterns.values.needs[k]);
  EXPECT_EQ(values_of(reverse.meanwhile), wanted);
  for (const LocalMove& m : reverse.meanwhile) EXPECT_FALSE(m.to.sets);
}

// Repeats, and places in no order, stay one by one and in order.
TEST(VectorProgram, PlacesInNoOrderKeepTheirOrder) {
  VectorPatterns patterns;
  patterns.values.owned = 9, patterns.values.ghost_count = 8;
  patterns.values.needs = {5, 2, 2, 2, 8, 0, 1, 7};
  patterns.values.ghost_places = {7, 0, 3, 6, 1, 2, 4, 5};
  const VectorProgram forward = compile_vector(patterns, Direction::forward, Buffering::straight);
  std::vector<std::pair<std::int64_t, std::int64_t>> wanted;
  for (std::size_t k = 0; k < 8; ++k)
    wanted.emplace_back(patterns.values.needs[k], patterns.values.ghost_places[k]);
  EXPECT_EQ(values_of(forward.meanwhile), wanted);
}

}  // namespace
}  // namespace tonari
