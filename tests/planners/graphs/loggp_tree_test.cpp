// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/loggp_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace tonari {
namespace {

LogGP machine(double L, double o, double G) {
  LogGP m;
  m.L = L, m.o = o, m.g = 0, m.G = G, m.copy_block = m.copy_byte = 0, m.eager = 1 << 30;
  return m;
}

// L + 2o = 2o, messages take no other time: every rank that has a block sends on in every step of
// length o, two steps after its first.
TEST(LogGPTree, GrowsLikeFibonacciWithoutLatency) {
  LogGPTree tree(Collective::allgather, machine(0, 1, 0), 1);
  // Within t steps N(t) = 1 + N(t-1) + N(t-2) others are reached: 1, 2, 4, 7, 12, 20 from t = 2 on.
  EXPECT_DOUBLE_EQ(tree.time(0), 0);
  EXPECT_DOUBLE_EQ(tree.time(1), 2);
  EXPECT_DOUBLE_EQ(tree.time(2), 3);
  EXPECT_DOUBLE_EQ(tree.time(3), 4);
  EXPECT_DOUBLE_EQ(tree.time(4), 4);
  EXPECT_DOUBLE_EQ(tree.time(5), 5);
  EXPECT_DOUBLE_EQ(tree.time(7), 5);
  EXPECT_DOUBLE_EQ(tree.time(8), 6);
  EXPECT_DOUBLE_EQ(tree.time(12), 6);
  EXPECT_DOUBLE_EQ(tree.time(13), 7);
  EXPECT_DOUBLE_EQ(tree.time(20), 7);
  EXPECT_DOUBLE_EQ(tree.time(21), 8);
}

TEST(LogGPTree, IsFlatWhereLatencyRules) {
  LogGPTree tree(Collective::allgather, machine(100, 1, 0), 1);
  EXPECT_DOUBLE_EQ(tree.time(50), 49 + 102);
  EXPECT_EQ(tree.branch(50, 50, true, 0).x, 0);
  EXPECT_EQ(tree.least(50), 0);
  EXPECT_EQ(tree.least(1000), 104) << "from then on the last message would arrive later than one "
                                      "that the first receiver passes on";
}

// The formula against the table of all T(n), from which it follows. All ranks ask for it, so it
// must not cost what the table does.
TEST(LogGPTree, LeastIsWhereATableFirstFallsBelowDirect) {
  int found = 0, none = 0;
  for (Collective collective : {Collective::alltoall, Collective::allgather})
    for (double bytes : {0.0, 1.0, 8.0, 700.0, 40000.0})
      for (double L : {0.0, 0.5, 1.3, 17.0, 60.0})
        for (double g : {0.0, 0.3, 2.0})
          for (double G : {0.0, 0.001, 0.01}) {
            LogGP m = machine(L, 1, G);
            m.g = g, m.copy_block = 0.1, m.copy_byte = 0.0005, m.eager = 1000, m.rendezvous = 3;
            LogGPTree table(collective, m, bytes);
            std::int64_t first = 0;
            for (std::int64_t n = 2; n <= 400 && first == 0; ++n)
              if (table.time(n) < table.direct(n) * (1 - 1e-9)) first = n;
            const LogGPTree tree(collective, m, bytes);
            EXPECT_EQ(tree.least(400), first)
                << name(collective) << " bytes " << bytes << " L " << L << " g " << g << " G " << G;
            if (first > 0) {
              EXPECT_EQ(tree.least(first), first);
              EXPECT_EQ(tree.least(first - 1), 0);
            }
            EXPECT_EQ(tree.remembered(), 0u);
            ++(first ? found : none);
          }
  EXPECT_GT(found, 100);
  EXPECT_GT(none, 10);
}

TEST(LogGPTree, RemembersNoMoreThanItWasAskedFor) {
  LogGPTree tree(Collective::allgather, machine(2, 1, 0), 1);
  EXPECT_GT(tree.least(100000), 0);
  EXPECT_EQ(tree.remembered(), 0u) << "a leaf of a large hub asks only for this";
  tree.branch(40, 40, true, 0);
  EXPECT_EQ(tree.remembered(), 40u);
}

// Against all splits instead of the crossing, which in an all-to-all is one to within the bytes of
// a block.
TEST(LogGPTree, FindsTheBestSplit) {
  for (Collective collective : {Collective::alltoall, Collective::allgather})
    for (double L : {0.0, 0.5, 1.3, 4.0, 17.0})
      for (double G : {0.0, 0.001, 0.01}) {
        const LogGP m = machine(L, 1, G);
        constexpr double bytes = 8;
        LogGPTree tree(collective, m, bytes);
        std::vector<double> best{0};
        for (int n = 1; n <= 120; ++n) {
          double least = std::numeric_limits<double>::infinity();
          for (int x = 0; x < n; ++x) {
            const double wire = ((collective == Collective::alltoall ? x + 1 : 1) * bytes - 1) * G;
            least = std::min(least, std::max(2 * m.o + wire + L + best[x],
                                             std::max(m.o, wire) + best[n - 1 - x]));
          }
          best.push_back(least);
          ASSERT_NEAR(tree.time(n), least, 0.02 * least)
              << name(collective) << " n " << n << " L " << L << " G " << G;
          ASSERT_LE(tree.time(n), tree.direct(n) * (1 + 1e-12));
        }
      }
}

TEST(LogGPTree, BusyHelpersGetLessAndLimitsHold) {
  LogGPTree tree(Collective::allgather, machine(2, 1, 0), 1);
  const auto idle = tree.branch(40, 40, true, 0), busy = tree.branch(40, 40, true, 5);
  EXPECT_GT(idle.x, busy.x);
  EXPECT_LE(idle.time, busy.time);
  EXPECT_LE(tree.branch(40, 3, true, 0).x, 3);
  EXPECT_GT(tree.branch(40, 3, true, 0).time, idle.time);
  EXPECT_EQ(tree.branch(40, 0, true, 0).x, 0);
  EXPECT_GE(tree.branch(40, 40, false, 0).x, 1) << "one who wants nothing itself takes something";
}

}  // namespace
}  // namespace tonari
