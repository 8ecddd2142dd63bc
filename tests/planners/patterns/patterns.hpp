// SPDX-License-Identifier: BSD-3-Clause
// Communication matrices of all kinds, and what every schedule for one must do.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analysis/schedule_plan.hpp"

namespace tonari::sharing {

// Uniform, power law, hot spots that send, that receive, groups that all write to the same,
// complete, empty; some ranks with nothing at all.
inline CommunicationMatrix any_pattern(std::mt19937& random, int most_ranks) {
  const int ranks = 1 + static_cast<int>(random() % static_cast<unsigned>(most_ranks));
  const unsigned kind = random() % 7, density = 1 + random() % 12;
  std::vector<bool> silent(static_cast<std::size_t>(ranks));
  for (std::size_t r = 0; r < silent.size(); ++r) silent[r] = kind != 5 && random() % 8 == 0;
  const auto likely = [&](int from, int to) -> bool {
    switch (kind) {
      case 0:
        return random() % (density + 1) == 0;
      case 1:
        return std::uniform_real_distribution<>()(random) <
               3.0 / std::pow(1 + (from + to) % ranks, 0.8);
      case 2:
        return from % 9 == 0 || random() % 16 == 0;
      case 3:
        return to % 7 == 0 || random() % 16 == 0;
      case 4:
        return (from / 4 + to) % 3 == 0;
      case 5:
        return true;
      default:
        return false;
    }
  };
  std::vector<Flow> flows;
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to)
      if (!silent[from] && !silent[to] && likely(from, to))
        flows.push_back({from, to, random() % 5});
  return CommunicationMatrix(ranks, flows);
}

// Plans exist, and the reference executor proves them; metrics agree that all is delivered.
inline void expect_proven(const CommunicationMatrix& matrix, const MessageSchedule& schedule,
                          const char* name, unsigned seed) {
  const Proof proof = prove(schedule_plans(matrix, schedule), matrix_delivery(matrix), seed);
  ASSERT_TRUE(proof) << name << ", " << matrix.ranks() << " ranks, seed " << seed << ": "
                     << proof.what;
  ASSERT_EQ(schedule.metrics(matrix).delivered, 1) << name << ", seed " << seed;
}

inline CommunicationMatrix matrix_of(int ranks, std::initializer_list<std::pair<int, int>> pairs) {
  std::vector<Flow> flows;
  for (auto [from, to] : pairs) flows.push_back({from, to, 1});
  return CommunicationMatrix(ranks, flows);
}

}  // namespace tonari::sharing
