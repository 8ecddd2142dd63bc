// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/mirror.hpp"

#include "planners/graphs/graphs.hpp"

namespace tonari {
namespace {

std::vector<Vertex> without_origins(std::vector<Vertex> all) {
  for (Vertex& v : all) v.origins.clear();
  return all;
}

std::string mirror_says(std::vector<Vertex> all, Errc code = Errc::mismatch) {
  LocalBspComm bsp(static_cast<int>(all.size()));
  const std::optional<Error> error = mirror(bsp, all);
  EXPECT_EQ(error ? error->code() : Errc::success, code);
  return error ? error->what() : "";
}

TEST(Mirror, FindsTheOrigins) {
  std::size_t several = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const std::vector<Vertex> truth = graphs::any_graph(random);
    std::vector<Vertex> all = without_origins(truth);
    LocalBspComm bsp(static_cast<int>(all.size()));
    ASSERT_FALSE(mirror(bsp, all)) << seed;
    for (std::size_t r = 0; r < all.size(); ++r)
      ASSERT_EQ(all[r].origins, truth[r].origins) << "rank " << r << ", seed " << seed;
    for (std::size_t r = 0; r < all.size(); ++r) {
      std::vector<std::int32_t> sources = truth[r].sources;
      std::sort(sources.begin(), sources.end());
      several += std::adjacent_find(sources.begin(), sources.end()) != sources.end() &&
                 sources.front() >= 0;
    }
  }
  EXPECT_GT(several, 100u) << "ranks with repeated edges";
}

TEST(Mirror, KeepsOriginsThatAreThere) {
  // Two ranks on a ring: what goes down (block 0) arrives from above (block 1).
  std::vector<Vertex> ring{{0, {1, 1}, {1, 1}, {1, 0}, 0, {0}},
                           {1, {0, 0}, {0, 0}, {1, 0}, 1, {1}}};
  LocalBspComm bsp(2);
  EXPECT_FALSE(mirror(bsp, ring));
  EXPECT_EQ(ring[0].origins, (std::vector<std::uint32_t>{1, 0}));
  ring[1].origins = {1, 1};
  EXPECT_EQ(mirror_says(ring, Errc::internal), "rank 1 has wrong origins of what rank 0 sends");
}

TEST(Mirror, NamesBothRanksAndTheirCounts) {
  const graphs::Edges edges{{0, 1}, {0, 1}, {1, 2}, {2, 2}};
  const std::string advice = "; the lists of sources and destinations must mirror each other";
  std::vector<Vertex> all = without_origins(graphs::make(3, edges));
  all[1].sources.pop_back();
  EXPECT_EQ(mirror_says(all),
            "rank 0 sends 2 blocks to rank 1, but rank 1 expects 1 from rank 0" + advice);
  all[1].sources.clear();
  EXPECT_EQ(mirror_says(all),
            "rank 0 sends 2 blocks to rank 1, but rank 1 expects none from rank 0" + advice);
  all[1].sources = {0, 0, 2};
  EXPECT_EQ(mirror_says(all),
            "rank 2 sends no block to rank 1, but rank 1 expects 1 from rank 2" + advice);
  all[1].sources = {0, 0};
  all[2].targets.clear();  // its self edge
  EXPECT_EQ(mirror_says(all),
            "rank 2 sends no block to rank 2, but rank 2 expects 1 from rank 2" + advice);
}

TEST(Mirror, TheLowestRankSpeaks) {
  std::vector<Vertex> all = without_origins(graphs::make(4, {{3, 2}, {0, 3}, {0, 1}}));
  for (Vertex& v : all) v.sources.clear();
  EXPECT_EQ(mirror_says(all).substr(0, 33), "rank 0 sends 1 block to rank 1, b");
}

TEST(Mirror, RanksOutOfRangeComeFirst) {
  std::vector<Vertex> all = without_origins(graphs::make(3, {{0, 1}, {1, 2}}));
  all[2].sources = {1, 3};
  all[1].sources.clear();
  EXPECT_EQ(mirror_says(all, Errc::argument), "source 1 of rank 2 is 3; ranks go from 0 to 2");
  all[1].targets = {-2};
  EXPECT_EQ(mirror_says(all, Errc::argument),
            "destination 0 of rank 1 is -2; ranks go from 0 to 2");
}

// Any one change of a list is found.
TEST(Mirror, NoDamageGoesUnnoticed) {
  int damaged = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    std::vector<Vertex> all = without_origins(graphs::any_graph(random));
    const int ranks = static_cast<int>(all.size());
    Vertex& v = all[random() % all.size()];
    std::vector<std::int32_t>& list = random() % 2 ? v.targets : v.sources;
    const auto other = static_cast<std::int32_t>(random() % ranks);
    if (random() % 2)
      list.push_back(other);
    else if (!list.empty() && list.front() != other)
      list.front() = other;
    else
      continue;
    ++damaged;
    LocalBspComm bsp(ranks);
    ASSERT_TRUE(mirror(bsp, all)) << seed;
  }
  EXPECT_GT(damaged, 300);
}

// ---- Sizes

std::vector<BlockSizes> sizes_of(const std::vector<Vertex>& all, Collective collective) {
  std::vector<BlockSizes> sizes(all.size());
  const bool alltoall = collective == Collective::alltoall;
  for (const Vertex& v : all) {
    for (std::uint32_t i = 0; i < (alltoall ? v.targets.size() : 1); ++i)
      sizes[v.rank].send.push_back(graphs::odd_bytes({v.rank, i}));
    for (std::size_t j = 0; j < v.sources.size(); ++j)
      sizes[v.rank].recv.push_back(
          v.sources[j] < 0 ? 7 : graphs::odd_bytes({v.sources[j], alltoall ? v.origins[j] : 0}));
  }
  return sizes;
}

TEST(CompareSizes, EqualEndsAreFine) {
  for (unsigned seed = 0; seed < 200; ++seed)
    for (Collective collective : {Collective::alltoall, Collective::allgather}) {
      std::mt19937 random(seed);
      const std::vector<Vertex> all = graphs::any_graph(random);
      LocalBspComm bsp(static_cast<int>(all.size()));
      const auto error = compare_sizes(bsp, all, collective, sizes_of(all, collective));
      ASSERT_FALSE(error) << error->what() << ", seed " << seed;
    }
}

TEST(CompareSizes, AnyDifferenceIsNamed) {
  int changed = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const std::vector<Vertex> all = graphs::any_graph(random);
    const Collective collective = seed % 2 ? Collective::alltoall : Collective::allgather;
    std::vector<BlockSizes> sizes = sizes_of(all, collective);
    const Vertex& v = all[random() % all.size()];
    if (v.sources.empty()) continue;
    const std::size_t j = random() % v.sources.size();
    if (v.sources[j] < 0) continue;
    ++changed;
    const Bytes right = sizes[v.rank].recv[j]++;
    LocalBspComm bsp(static_cast<int>(all.size()));
    const auto error = compare_sizes(bsp, all, collective, sizes);
    ASSERT_TRUE(error) << seed;
    EXPECT_EQ(error->code(), Errc::mismatch);
    const std::string block =
        collective == Collective::alltoall ? text("send block ", v.origins[j]) : "its block";
    EXPECT_EQ(error->what(),
              text("rank ", v.sources[j], " sends ", right, " bytes (", block, ") to rank ", v.rank,
                   ", but rank ", v.rank, " expects ", right + 1, " bytes (receive block ", j,
                   "); give both ends the same size"));
  }
  EXPECT_GT(changed, 100);
}

// Blocks of one rank for another are told apart by their origins, not by counting.
TEST(CompareSizes, GoesByOrigins) {
  const std::vector<Vertex> ring{{0, {1, 1}, {1, 1}, {1, 0}, 0, {0}},
                                 {1, {0, 0}, {0, 0}, {1, 0}, 1, {1}}};
  const std::vector<BlockSizes> crossed{{{10, 20}, {40, 30}}, {{30, 40}, {20, 10}}};
  LocalBspComm bsp(2);
  EXPECT_FALSE(compare_sizes(bsp, ring, Collective::alltoall, crossed));
  const std::vector<BlockSizes> straight{{{10, 20}, {30, 40}}, {{30, 40}, {10, 20}}};
  EXPECT_TRUE(compare_sizes(bsp, ring, Collective::alltoall, straight));
}

}  // namespace
}  // namespace tonari
