// SPDX-License-Identifier: BSD-3-Clause
// The orders of pairwise swaps against the paper: its numbers of steps, its figures, and that
// everyone meets everyone.
#include "planners/in_place/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

#include "planners/in_place/swap_steps.hpp"
#include "support/errors.hpp"

namespace tonari {
namespace {

using Ranks = std::vector<std::int32_t>;
using Steps = std::vector<std::vector<int>>;

constexpr SwapOrder every_order[] = {SwapOrder::mpich, SwapOrder::linear_shift,
                                     SwapOrder::hierarchical_sets};
constexpr std::int32_t most_ranks = 64;

int last_step(const Steps& steps) {
  int last = 0;
  for (const auto& row : steps) last = std::max(last, *std::max_element(row.begin(), row.end()));
  return last;
}

// Every rank meets every other exactly once (and itself once, if so), both in one step and each in
// another step than its other swaps.
void expect_all_meet(SwapOrder order, std::int32_t p, const Ranks& node_of = {}) {
  const bool itself = order == SwapOrder::mpich;
  const Steps steps = swap_steps(order, p, node_of);
  for (std::int32_t r = 0; r < p; ++r) {
    Ranks met = partners(order, r, p, node_of);
    std::sort(met.begin(), met.end());
    Ranks others(static_cast<std::size_t>(p));
    std::iota(others.begin(), others.end(), 0);
    if (!itself) std::erase(others, r);
    ASSERT_EQ(met, others) << name(order) << ", rank " << r << " of " << p;
    std::vector<int> mine = steps[r];
    for (std::int32_t j = 0; j < p; ++j) ASSERT_EQ(steps[r][j], steps[j][r]);
    std::erase(mine, 0);
    std::sort(mine.begin(), mine.end());
    ASSERT_EQ(mine.size(), others.size());
    ASSERT_EQ(std::adjacent_find(mine.begin(), mine.end()), mine.end());
  }
}

TEST(SwapOrders, HaveNames) {
  for (SwapOrder order : every_order) EXPECT_EQ(swap_order_named(name(order)), order);
  EXPECT_STREQ(name(SwapOrder::hierarchical_sets), "hierarchical-sets");
  EXPECT_EQ(swap_order_named("linear"), std::nullopt);
  EXPECT_EQ(swap_order_named(""), std::nullopt);
}

TEST(SwapOrders, EveryoneMeetsEveryoneOnce) {
  for (SwapOrder order : every_order)
    for (std::int32_t p = 1; p <= most_ranks; ++p) expect_all_meet(order, p);
}

TEST(SwapOrders, MpichTakesTwoPMinusOneSteps) {
  for (std::int32_t p = 1; p <= most_ranks; ++p)
    EXPECT_EQ(last_step(swap_steps(SwapOrder::mpich, p)), 2 * p - 1) << p;
}

// Section 3.2: "at most one process being idle in each step". That is so where p is odd; else 2 r =
// i (mod p) has two solutions in every second step.
TEST(SwapOrders, LinearShiftTakesAtMostPStepsWithAtMostOneIdleRank) {
  for (std::int32_t p = 1; p <= most_ranks; ++p) {
    const Steps steps = swap_steps(SwapOrder::linear_shift, p);
    const int last = last_step(steps);
    EXPECT_LE(last, p);
    for (int step = 1; step <= last; ++step) {
      const auto idle = std::count_if(steps.begin(), steps.end(), [&](const auto& row) {
        return std::count(row.begin(), row.end(), step) == 0;
      });
      EXPECT_LE(idle, p % 2 == 1 ? 1 : 2) << "step " << step << " of " << p;
    }
    EXPECT_LE(p * (last - p + 1), last)
        << "idle ranks of all steps: no more than one per step on average, of " << p;
  }
}

TEST(SwapOrders, HierarchicalSetsTakeThePapersNumberOfSteps) {
  for (std::int32_t p = 1; p <= most_ranks; ++p) {
    const int last = last_step(swap_steps(SwapOrder::hierarchical_sets, p)),
              log = std::bit_width(static_cast<unsigned>(p - 1));
    EXPECT_LE(last, std::has_single_bit(static_cast<unsigned>(p)) ? p - 1 : p + log - 2) << p;
    EXPECT_GE(last, p - 1);
  }
}

// Fig. 4 to the message, with the brackets that lines 9 and 16 leave out.
Ranks figure_4(std::int32_t rank, std::int32_t p) {
  Ranks order;
  std::int32_t low = 0, high = p;
  while (low + 1 < high) {
    const std::int32_t mid = (low + high) / 2;
    if (rank < mid) {
      const std::int32_t n = high - mid, shift = std::min(rank - low, n - 1);
      for (std::int32_t i = 0; i < n; ++i) order.push_back(mid + (i + shift) % n);
      high = mid;
    } else {
      const std::int32_t n = mid - low, shift = std::min(rank - mid, n - 1);
      for (std::int32_t i = 0; i < n; ++i) order.push_back(low + (shift - i + n) % n);
      low = mid;
    }
  }
  return order;
}

TEST(SwapOrders, HierarchicalSetsAreThoseOfFigure4) {
  for (std::int32_t p = 1; p <= 2 * most_ranks; ++p) {
    const Ranks one_node(static_cast<std::size_t>(p), 5);
    Ranks many_nodes(static_cast<std::size_t>(p));
    // names of nodes mean nothing: rank 0's is the first
    std::iota(many_nodes.rbegin(), many_nodes.rend(), 0);
    for (std::int32_t r = 0; r < p; ++r)
      for (const Ranks& node_of : {Ranks{}, one_node, many_nodes})
        ASSERT_EQ(partners(SwapOrder::hierarchical_sets, r, p, node_of), figure_4(r, p))
            << r << " of " << p;
  }
}

// Fig. 2, in the order of its three matrices.
std::string figure_2() {
  std::ostringstream out;
  for (SwapOrder order : every_order) {
    out << name(order) << '\n';
    for (const auto& row : swap_steps(order, 7)) {
      for (std::size_t j = 0; j < row.size(); ++j) {
        out << (j ? " " : "  ");
        if (row[j] == 0)
          out << " .";
        else
          out << (row[j] < 10 ? " " : "") << row[j];
      }
      out << '\n';
    }
  }
  return out.str();
}

// TONARI_UPDATE_GOLDENS=1 writes the file.
TEST(SwapOrders, StepsOfSevenRanksAreThoseOfFigure2) {
  const std::string path = std::string(TONARI_GOLDENS) + "/swap-steps.7-ranks.txt",
                    text = figure_2();
  if (std::getenv("TONARI_UPDATE_GOLDENS")) {
    std::ofstream(path) << text;
    GTEST_SKIP() << "wrote " << path;
  }
  std::ifstream in(path);
  ASSERT_TRUE(in) << path << " is missing";
  std::stringstream remembered;
  remembered << in.rdbuf();
  EXPECT_EQ(text, remembered.str());
}

TEST(SwapOrders, Figure2HasTheEntriesThatTheTextGives) {
  const Steps left = swap_steps(SwapOrder::mpich, 7),
              middle = swap_steps(SwapOrder::linear_shift, 7),
              right = swap_steps(SwapOrder::hierarchical_sets, 7);
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 7; ++j) {
      EXPECT_EQ(left[i][j], i + j + 1);
      EXPECT_EQ(middle[i][j], i == j ? 0 : (i + j) % 7 + 1);
      const int a = std::min(i, j), b = std::max(i, j);
      const bool halves = a <= 2 && b >= 3,
                 quarters = !halves && ((a == 0 && b <= 2) || (a >= 3 && a <= 4 && b >= 5));
      const auto [first, last] = a == b     ? std::pair(0, 0)
                                 : halves   ? std::pair(1, 4)
                                 : quarters ? std::pair(5, 6)
                                            : std::pair(7, 7);
      EXPECT_TRUE(first <= right[i][j] && right[i][j] <= last)
          << i << ", " << j << " in step " << right[i][j];
    }
}

TEST(SwapOrders, RanksThatWaitForEachOtherAreFound) {
  const std::vector<Ranks> cycle{{1, 2}, {2, 0}, {0, 1}}, forgotten{{1}, {}};
  const Error e = test::error_of([&] { swap_steps(cycle); });
  EXPECT_EQ(e.code(), Errc::internal);
  EXPECT_STREQ(e.what(), "in step 1 all ranks with swaps left wait for each other");
  EXPECT_EQ(test::error_of([&] { swap_steps(forgotten); }).code(), Errc::internal);
}

// Nodes of random sizes whose ranks are dealt in any order.
Ranks random_nodes(std::mt19937& random, std::int32_t p) {
  const auto nodes = 1 + random() % static_cast<unsigned>(p);
  Ranks node_of;
  for (std::int32_t r = 0; r < p; ++r)
    node_of.push_back(
        static_cast<std::int32_t>(100 - std::min(random() % nodes, random() % nodes)));
  return node_of;
}

TEST(SwapOrders, NobodyBlocksWhateverTheNodes) {
  std::mt19937 random(5);
  for (std::int32_t p = 1; p <= most_ranks; ++p)
    for (int repeat = 0; repeat < 8; ++repeat)
      expect_all_meet(SwapOrder::hierarchical_sets, p, random_nodes(random, p));
}

TEST(SwapOrders, SwapsWithinANodeComeLastAndStayThere) {
  std::mt19937 random(6);
  for (std::int32_t p = 1; p <= most_ranks; ++p) {
    const Ranks node_of = random_nodes(random, p);
    for (std::int32_t r = 0; r < p; ++r) {
      const Ranks order = partners(SwapOrder::hierarchical_sets, r, p, node_of);
      const auto at_home = [&](std::int32_t j) { return node_of[j] == node_of[r]; };
      EXPECT_TRUE(std::is_partitioned(order.begin(), order.end(),
                                      [&](std::int32_t j) { return !at_home(j); }))
          << r << " of " << p;
    }
  }
}

// Steps of the schedule in which no swap at all leaves a node.
int steps_on_nodes(const Steps& steps, const Ranks& node_of) {
  int count = 0;
  for (int step = 1; step <= last_step(steps); ++step) {
    bool leaves = false;
    for (std::size_t i = 0; i < steps.size(); ++i)
      for (std::size_t j = 0; j < steps.size(); ++j)
        leaves = leaves || (steps[i][j] == step && node_of[i] != node_of[j]);
    count += !leaves;
  }
  return count;
}

TEST(SwapOrders, StepsThatStayOnNodes) {
  struct Machine {
    std::vector<int> nodes;  // sizes
    bool dealt;              // ranks go round the nodes instead of filling one after the other
    int on_nodes, steps;     // expected
  };
  // Between halves the larger one counts: 8 + 4 between nodes and 2 + 1 within; 12 and 6 + 3 + 2 +
  // 1; 8 + 5 and 3 + 2 + 1; 15 + 14 and 7 + 4 + 2 + 1. So nodes of very different sizes cost steps.
  for (const Machine& m : {Machine{{4, 4, 4, 4}, false, 3, 15}, Machine{{4, 4, 4, 4}, true, 3, 15},
                           Machine{{12, 4}, false, 12, 24}, Machine{{3, 5, 3, 5}, true, 6, 19},
                           Machine{{1, 14, 1}, false, 14, 43}}) {
    Ranks node_of;
    std::vector<int> left = m.nodes;
    for (std::size_t node = 0; std::accumulate(left.begin(), left.end(), 0) > 0;
         node = m.dealt || left[node] == 0 ? (node + 1) % left.size() : node)
      if (left[node] > 0) node_of.push_back(static_cast<std::int32_t>(node)), --left[node];
    const auto p = static_cast<std::int32_t>(node_of.size());
    const Steps known = swap_steps(SwapOrder::hierarchical_sets, p, node_of);
    EXPECT_EQ(steps_on_nodes(known, node_of), m.on_nodes) << p;
    EXPECT_EQ(last_step(known), m.steps) << p;
    EXPECT_LE(steps_on_nodes(swap_steps(SwapOrder::linear_shift, p), node_of), 2) << p;
  }
}

}  // namespace
}  // namespace tonari
