// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/isomorphic.hpp"

#include "planners/graphs/counted_bsp_comm.hpp"
#include "planners/graphs/graphs.hpp"
#include "planners/offsets/cases.hpp"
#include "support/grids.hpp"

namespace tonari {
namespace {

// The graph of an isomorphic neighborhood as a program would list it: neighbors outside of the mesh
// left out or given as -1, sources in any order.
std::vector<Vertex> graph_of(const Neighborhood& near, bool holes, std::mt19937& random) {
  const int ranks = near.grid.ranks();
  const auto s = static_cast<std::uint32_t>(near.offsets.size());
  std::vector<Vertex> all(ranks);
  // of block i in the rank's list
  std::vector<std::vector<std::uint32_t>> number(ranks, std::vector<std::uint32_t>(s));
  for (int r = 0; r < ranks; ++r) {
    all[r].rank = r;
    for (std::uint32_t i = 0; i < s; ++i) {
      number[r][i] = static_cast<std::uint32_t>(all[r].targets.size());
      if (const int target = near.target(r, i); target >= 0 || holes)
        all[r].targets.push_back(target);
    }
  }
  for (Vertex& v : all) {
    std::vector<std::uint32_t> order(s);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (std::uint32_t i : order)
      if (const int source = near.source(v.rank, i); source >= 0) {
        v.sources.push_back(source);
        v.origins.push_back(number[source][i]);
      }
  }
  return all;
}

std::vector<Isomorphism> find(const Grid& grid, const std::vector<Vertex>& all) {
  LocalBspComm bsp(grid.ranks());
  return find_isomorphism(bsp, grid, all);
}

// What an isomorphism is: along each offset every rank sends a block of its own, and the neighbor
// there has it where it looks for that offset.
void expect_isomorphism(const Grid& grid, const std::vector<Vertex>& all,
                        const std::vector<Isomorphism>& found) {
  ASSERT_EQ(found.size(), all.size());
  const std::vector<Vec>& offsets = found[0].offsets;
  for (const Vertex& v : all) {
    const Isomorphism& here = found[v.rank];
    ASSERT_EQ(here.offsets, offsets);
    std::vector<int> sent(v.targets.size(), 0), received(v.sources.size(), 0);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const int target = grid.rank_at(grid.coordinates(v.rank) + offsets[i]),
                source = grid.rank_at(grid.coordinates(v.rank) - offsets[i]);
      ASSERT_EQ(here.send_blocks[i] >= 0, target >= 0);
      ASSERT_EQ(here.recv_blocks[i] >= 0, source >= 0);
      if (target >= 0) {
        EXPECT_EQ(v.targets[here.send_blocks[i]], target);
        ++sent[here.send_blocks[i]];
      }
      if (source >= 0) {
        EXPECT_EQ(v.sources[here.recv_blocks[i]], source);
        EXPECT_EQ(static_cast<std::int32_t>(v.origins[here.recv_blocks[i]]),
                  found[source].send_blocks[i]);
        ++received[here.recv_blocks[i]];
      }
    }
    for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(sent[i], v.targets[i] >= 0);
    for (std::size_t j = 0; j < received.size(); ++j) EXPECT_EQ(received[j], v.sources[j] >= 0);
  }
}

std::vector<Vec> sorted(std::vector<Vec> offsets) {
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

TEST(Isomorphic, EveryIsomorphicGraphIsRecognized) {
  int meshes = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    test::Random random(seed);
    std::mt19937 shuffle(seed);
    const Grid grid = test::random_grid(random, random.between(1, 4), 60);
    const Neighborhood near{grid, test::random_offsets(random, grid, 12)};
    std::vector<Vec> expected;
    for (const Vec& offset : near.offsets)
      if (grid.reachable(offset)) expected.push_back(grid.shortest(offset));
    const std::vector<Vertex> all = graph_of(near, random.once_in(2), shuffle);
    SCOPED_TRACE(test::describe(near) + ", seed " + std::to_string(seed));
    const std::vector<Isomorphism> found = find(grid, all);
    ASSERT_NO_FATAL_FAILURE(expect_isomorphism(grid, all, found));
    EXPECT_EQ(sorted(found[0].offsets), sorted(expected));
    if (grid.fully_periodic()) {
      EXPECT_EQ(found[0].offsets, expected);  // the ranks' own order
    }
    meshes += !grid.fully_periodic();
  }
  EXPECT_GT(meshes, 500);
}

// No rank has all neighbors; their order follows from several ranks together.
TEST(Isomorphic, NarrowMeshes) {
  std::mt19937 random(1);
  const Neighborhood near{test::mesh({2, 2}),
                          {Vec{-1, 0}, Vec{0, -1}, Vec{1, 0}, Vec{1, 1}, Vec{0, 1}, Vec{-1, 1}}};
  const std::vector<Vertex> all = graph_of(near, false, random);
  ASSERT_NO_FATAL_FAILURE(expect_isomorphism(near.grid, all, find(near.grid, all)));
}

// On a ring of two both neighbors are the same rank: which block is which is what the origins say.
TEST(Isomorphic, OriginsDecideOnSmallRings) {
  for (std::vector<std::uint32_t> origins : {std::vector<std::uint32_t>{0, 1}, {1, 0}}) {
    const std::vector<Vertex> all{{0, {1, 1}, {1, 1}, origins, 0, {0}},
                                  {1, {0, 0}, {0, 0}, origins, 1, {1}}};
    const Grid ring = test::torus({2});
    const std::vector<Isomorphism> found = find(ring, all);
    ASSERT_NO_FATAL_FAILURE(expect_isomorphism(ring, all, found));
    EXPECT_EQ(found[0].offsets, (std::vector<Vec>{Vec{1}, Vec{1}}));
  }
}

TEST(Isomorphic, NoEdgesAtAll) {
  const std::vector<Vertex> all = graphs::make(6, {});
  const std::vector<Isomorphism> found = find(test::torus({2, 3}), all);
  ASSERT_EQ(found.size(), 6u);
  EXPECT_TRUE(found[0].offsets.empty());
}

// The way back of a ring is an offset that only the last ranks of the line have.
TEST(Isomorphic, ARingIsAPatternOfTheLineToo) {
  const Grid line = test::mesh({5});
  const std::vector<Vertex> all = graphs::make(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}});
  const std::vector<Isomorphism> found = find(line, all);
  ASSERT_NO_FATAL_FAILURE(expect_isomorphism(line, all, found));
  EXPECT_EQ(sorted(found[0].offsets), (std::vector<Vec>{Vec{-4}, Vec{1}}));
}

// Each of these differs at one rank from an isomorphic graph.
TEST(Isomorphic, OneRankSpoilsIt) {
  const Grid ring = test::torus({5});
  graphs::Edges edges;
  for (int r = 0; r < 5; ++r) edges.insert(edges.end(), {{r, (r + 1) % 5}, {r, (r + 2) % 5}});
  EXPECT_FALSE(find(ring, graphs::make(5, edges)).empty());

  graphs::Edges swapped = edges;
  std::swap(swapped[4], swapped[5]);
  EXPECT_TRUE(find(ring, graphs::make(5, swapped)).empty()) << "rank 2 has another order";
  graphs::Edges missing = edges;
  missing.erase(missing.begin() + 4);
  EXPECT_TRUE(find(ring, graphs::make(5, missing)).empty());
  graphs::Edges more = edges;
  more.emplace_back(3, 3);
  EXPECT_TRUE(find(ring, graphs::make(5, more)).empty());
  graphs::Edges twice = edges;
  twice.emplace_back(3, 4);
  EXPECT_TRUE(find(ring, graphs::make(5, twice)).empty());
}

// On a mesh of 2 x 2 each pair of neighboring directions meets at one rank only. Right before down,
// down before left, left before up, and up before right: no rank contradicts another, but there is
// no order of all four.
TEST(Isomorphic, OrdersThatGoInACircle) {
  const Grid mesh = test::mesh({2, 2});
  const graphs::Edges edges{{0, 1}, {0, 2}, {1, 3}, {1, 0}, {3, 2}, {3, 1}, {2, 0}, {2, 3}};
  EXPECT_TRUE(find(mesh, graphs::make(4, edges)).empty());
  graphs::Edges other = edges;
  std::swap(other[6], other[7]);  // rank 2: right before up
  ASSERT_NO_FATAL_FAILURE(
      expect_isomorphism(mesh, graphs::make(4, other), find(mesh, graphs::make(4, other))));
}

// Whatever is found is one.
TEST(Isomorphic, RandomGraphsOverGrids) {
  int found_some = 0, found_none = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const std::vector<Vertex> all = graphs::any_graph(random, 6);
    const int ranks = static_cast<int>(all.size());
    const Grid grid = ranks % 2 ? test::torus({ranks})
                                : Grid(std::array{2, ranks / 2},
                                       std::array{random() % 2 == 0, random() % 2 == 0});
    const std::vector<Isomorphism> found = find(grid, all);
    SCOPED_TRACE(seed);
    if (!found.empty()) {
      ASSERT_NO_FATAL_FAILURE(expect_isomorphism(grid, all, found));
    }
    ++(found.empty() ? found_none : found_some);
  }
  EXPECT_GT(found_some, 50);
  EXPECT_GT(found_none, 50);
}

// However many ranks there are: one exchange. Their number must not decide how long it takes.
TEST(Isomorphic, TakesOneExchange) {
  std::mt19937 random(1);
  const Neighborhood near{Grid(std::array{30, 20}, std::array{true, false}),
                          {Vec{0, 1}, Vec{-1, 0}, Vec{2, -1}}};
  const std::vector<Vertex> all = graph_of(near, false, random);
  CountedBspComm bsp(600);
  EXPECT_FALSE(find_isomorphism(bsp, near.grid, all).empty());
  EXPECT_EQ(bsp.exchanges(), 1u);
  EXPECT_EQ(bsp.messages(), 2u);  // from both corners
}

}  // namespace
}  // namespace tonari
