// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/thinning.hpp"

#include <set>

#include "planners/patterns/patterns.hpp"
#include "planners/patterns/rank_sets.hpp"
#include "planners/patterns/two_hops.hpp"

namespace tonari {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

TwoStages twice(const CommunicationMatrix& m) {
  TwoStages edges;
  for (BlockNumber b = 0; b < m.blocks(); ++b) edges[0].push_back({m.origin(b), m.target(b)});
  edges[1] = edges[0];
  return edges;
}

// Bits and lists against plain sets; rows of very different sizes, too.
TEST(RankSets, AreSets) {
  std::mt19937 random(3);
  for (int ranks : {70, 3000}) {
    RankSets sets(ranks);
    std::vector<std::set<int>> plain(3);
    for (int k = 0; k < 6000; ++k) {
      const std::size_t set = random() % 3;
      const int rank =
          static_cast<int>(random() % static_cast<unsigned>(set == 2 ? ranks / 20 : ranks));
      if (random() % 3) {
        sets.insert(static_cast<int>(set), rank);
        plain[set].insert(rank);
      } else {
        sets.erase(static_cast<int>(set), rank);
        plain[set].erase(rank);
      }
      ASSERT_EQ(sets.contains(static_cast<int>(set), rank), plain[set].contains(rank));
    }
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) {
        std::vector<int> common, expected;
        sets.for_each_common(a, sets, b, [&](int rank) { common.push_back(rank); });
        std::set_intersection(plain[a].begin(), plain[a].end(), plain[b].begin(), plain[b].end(),
                              std::back_inserter(expected));
        EXPECT_EQ(common, expected);
        EXPECT_EQ(sets.count_common(a, sets, b), static_cast<int>(expected.size()));
      }
  }
}

// No edge can be deleted any more once all were tried: that of each pair that is left has a block
// without any other way.
TEST(Thinning, LeavesNoEdgeThatCouldGo) {
  std::mt19937 random(5);
  int detours = 0;
  for (int k = 0; k < 60; ++k) {
    const CommunicationMatrix m = sharing::any_pattern(random, 40);
    const std::vector<std::int32_t> via = thin(m, twice(m), {unlimited, unlimited}).via;
    std::set<std::pair<int, int>> first, second;
    for (BlockNumber b = 0; b < m.blocks(); ++b) {
      if (via[b] != m.origin(b)) first.emplace(m.origin(b), via[b]);
      if (via[b] != m.target(b)) second.emplace(via[b], m.target(b));
      detours += via[b] != m.origin(b) && via[b] != m.target(b);
    }
    for (auto [from, to] : first) {
      int needed = 0;
      for (BlockNumber b : m.row(from)) {
        const int t = m.target(b);
        int ways = second.contains({from, t});
        for (int x = 0; x < m.ranks(); ++x)
          ways += std::pair(from, x) != std::pair(from, to) && first.contains({from, x}) &&
                  (x == t || second.contains({x, t}));
        needed += ways == 0;
      }
      ASSERT_GT(needed, 0) << "pattern " << k << ", from " << from << " to " << to;
    }
  }
  EXPECT_GT(detours, 1000);
}

// Everybody writes to the next 16 and to a hub: twice the ranks are twice the work, or a little
// more, but not four times.
TEST(Thinning, WorkGrowsWithTheBlocks) {
  std::uint64_t before = 0;
  for (int ranks : {1500, 3000, 6000}) {
    std::vector<Flow> flows;
    for (int a = 0; a < ranks; ++a) {
      for (int k = 1; k <= 16; ++k) flows.push_back({a, (a + k) % ranks, 1});
      flows.push_back({a, a / 100 * 100, 1});
    }
    const CommunicationMatrix m(ranks, flows);
    const Thinned thinned = thin(m, twice(m), {unlimited, unlimited});
    TwoHops hops(m, thinned.via);
    const int most = hops.most();
    hops.level(unlimited);
    EXPECT_LE(hops.most(), most);
    const std::uint64_t steps = thinned.steps + hops.steps();
    if (before) {
      EXPECT_LE(static_cast<double>(steps), 2.5 * static_cast<double>(before)) << ranks;
    }
    EXPECT_GT(steps, m.blocks());
    before = steps;
  }
}

}  // namespace
}  // namespace tonari
