// SPDX-License-Identifier: BSD-3-Clause
// Communication matrices of all kinds, and what every schedule for one must do.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analysis/executor.hpp"
#include "analysis/schedule_plan.hpp"
#include "planners/patterns/routes.hpp"

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

// Every block takes its k-th hop in stage k: the shortest chains, but two ranks may exchange a
// message per stage.
inline MessageSchedule in_stages(const CommunicationMatrix& matrix, const Routes& routes) {
  std::vector<BlockHop> hops;
  for (BlockNumber b = 0; b < routes.size(); ++b)
    for (std::size_t k = 1; k < routes[b].size(); ++k)
      hops.push_back({static_cast<std::int32_t>(k - 1), routes[b][k - 1], routes[b][k], b});
  return MessageSchedule(matrix, std::move(hops));
}

inline int most_hops(const Routes& routes) {
  std::size_t most = 0;
  for (BlockNumber b = 0; b < routes.size(); ++b) most = std::max(most, routes[b].size() - 1);
  return static_cast<int>(most);
}

// What the plans of any schedule must achieve, with words of one byte.
inline Delivery matrix_delivery(const CommunicationMatrix& matrix) {
  Delivery all;
  all.expected.resize(static_cast<std::size_t>(matrix.ranks()));
  all.send_bytes.resize(all.expected.size());
  all.recv_bytes.resize(all.expected.size());
  for (int r = 0; r < matrix.ranks(); ++r) {
    for (BlockNumber b : matrix.row(r)) all.send_bytes[r].push_back(matrix.words(b));
    for (BlockNumber b : matrix.column(r)) {
      all.expected[r].push_back({matrix.origin(b), b - matrix.first_of(matrix.origin(b))});
      all.recv_bytes[r].push_back(matrix.words(b));
    }
  }
  return all;
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
