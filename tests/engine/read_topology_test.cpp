// SPDX-License-Identifier: BSD-3-Clause
// What communicators say of their neighbors and nodes, against lists worked out here.
#include "engine/comm/read_topology.hpp"

#include <cstdlib>
#include <random>

#include "engine/comm/local_topology.hpp"
#include "engine/comm/mpi_bsp_comm.hpp"
#include "mpi/owned_comm.hpp"
#include "planners/graphs/graphs.hpp"
#include "planners/graphs/mirror.hpp"
#include "support/errors.hpp"
#include "support/oracle.hpp"

namespace tonari {
namespace {

using test::world_rank, test::world_size;
using Ranks = std::vector<std::int32_t>;

MPI_Comm duplicate_world() {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  return copy;
}

Vertex vertex_of(const TopologyLists& lists) {
  return {world_rank(), lists.targets, lists.sources, lists.origins, world_rank(), {world_rank()}};
}

// ---- what wisdom is kept under

// Two ranks with two edges each way; `origins`: which of the other's blocks comes first.
std::vector<LocalTopology> pair_of_ranks(std::vector<std::uint32_t> origins) {
  std::vector<LocalTopology> places;
  for (std::int32_t rank : {0, 1}) {
    LocalBspComm alone(1);
    const std::int32_t other = 1 - rank;
    const Vertex vertex{rank, {other, other}, {other, other}, origins, rank, {rank}};
    places.push_back(topology_in_graph(alone, std::span(&vertex, 1), 0));
  }
  return places;
}

TEST(Fingerprint, TellsWhetherBlocksComeCrosswise) {
  const std::vector<LocalTopology> straight = pair_of_ranks({0, 1}),
                                   crosswise = pair_of_ranks({1, 0});
  for (int rank : {0, 1}) EXPECT_NE(straight[rank].fingerprint, crosswise[rank].fingerprint);
}

// ---- Cartesian

// All ways to write the number of ranks as a product of d factors.
void factorizations(int ranks, int d, std::vector<int> start,
                    std::vector<std::vector<int>>& found) {
  if (d == 1) {
    start.push_back(ranks);
    found.push_back(start);
    return;
  }
  for (int size = 1; size <= ranks; ++size) {
    if (ranks % size != 0) continue;
    std::vector<int> longer = start;
    longer.push_back(size);
    factorizations(ranks / size, d - 1, longer, found);
  }
}

void expect_cartesian(const std::vector<int>& sizes, const std::vector<int>& periods) {
  const int d = static_cast<int>(sizes.size());
  test::Topology t{sizes, periods, test::box(d, -1, 1, true), "star"};
  const OwnedComm cart(test::make_cart(t));
  const TopologyLists lists = read_topology(cart.get());
  ASSERT_EQ(lists.targets.size(), 2u * d);
  EXPECT_EQ(lists.sources, lists.targets);
  EXPECT_FALSE(lists.weighted);
  for (int j = 0; j < d; ++j) {
    std::vector<int> step(2 * d, 0);
    step[j] = -1, step[d + j] = 1;
    t.offsets = step;  // down and up along j
    EXPECT_EQ(lists.targets[2 * j], t.target(world_rank(), 0));
    EXPECT_EQ(lists.targets[2 * j + 1], t.target(world_rank(), 1));
    // What came from below was sent upwards there, in its block 2j+1; and the other way round.
    EXPECT_EQ(lists.sources[2 * j], t.source(world_rank(), 1));
    EXPECT_EQ(lists.origins[2 * j], static_cast<std::uint32_t>(2 * j + 1));
    EXPECT_EQ(lists.origins[2 * j + 1], static_cast<std::uint32_t>(2 * j));
  }
  ASSERT_TRUE(lists.grid);
  ASSERT_EQ(lists.grid->dimensions(), d);
  for (int j = 0; j < d; ++j) {
    EXPECT_EQ(lists.grid->size(j), sizes[j]);
    EXPECT_EQ(lists.grid->periodic(j), periods[j] != 0);
  }
  // The ranks' origins fit together.
  const OwnedComm comm(duplicate_world());
  MpiBspComm bsp(comm.get());
  Vertex vertex = vertex_of(lists);
  const std::optional<Error> error = mirror(bsp, std::span(&vertex, 1));
  EXPECT_FALSE(error) << error->what();
  EXPECT_EQ(vertex.origins, lists.origins);
}

TEST(ReadTopology, CartesianOfAllShapes) {
  for (int d = 1; d <= 3; ++d) {
    std::vector<std::vector<int>> shapes;
    factorizations(world_size(), d, {}, shapes);
    for (std::size_t n = 0; n < shapes.size(); ++n)
      for (int mask = 0; mask < 1 << d; ++mask) {
        if (test::ranks_are_slow() && (n + mask) % 3 != 0) continue;
        std::vector<int> periods;
        for (int j = 0; j < d; ++j) periods.push_back(mask >> j & 1);
        SCOPED_TRACE(text(d, " dimensions, shape ", n, ", periods ", mask));
        ASSERT_NO_FATAL_FAILURE(expect_cartesian(shapes[n], periods));
      }
  }
}

TEST(ReadTopology, MoreDimensionsThanAGridHas) {
  const std::vector<int> sizes{1, 1, 1, world_size(), 1, 1, 1, 1, 1},
      periods{0, 1, 0, 1, 0, 0, 1, 0, 0};
  const OwnedComm cart(test::make_cart({sizes, periods, {}, ""}));
  const TopologyLists lists = read_topology(cart.get());
  const std::int32_t me = world_rank(), below = (me + world_size() - 1) % world_size(),
                     above = (me + 1) % world_size();
  EXPECT_EQ(lists.targets,
            (Ranks{-1, -1, me, me, -1, -1, below, above, -1, -1, -1, -1, me, me, -1, -1, -1, -1}));
  EXPECT_FALSE(lists.grid);
}

// ---- Graphs

TEST(ReadTopology, Graph) {
  // A ring with both neighbors twice over for rank 0 and the last; even ranks have an edge to
  // themselves.
  const int n = world_size();
  std::vector<Ranks> neighbors(n);
  for (int r = 0; r + 1 < n; ++r) neighbors[r].push_back(r + 1), neighbors[r + 1].push_back(r);
  if (n > 2)
    neighbors[0].insert(neighbors[0].begin(), {n - 1, n - 1}),
        neighbors[n - 1].insert(neighbors[n - 1].end(), {0, 0});
  for (int r = 0; r < n; r += 2) neighbors[r].push_back(r);
  std::vector<int> index, edges;
  for (const Ranks& list : neighbors) {
    edges.insert(edges.end(), list.begin(), list.end());
    index.push_back(static_cast<int>(edges.size()));
  }
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Graph_create(MPI_COMM_WORLD, n, index.data(), edges.data(), 0, &made);
  const OwnedComm graph(made);
  const TopologyLists lists = read_topology(graph.get());
  EXPECT_EQ(lists.targets, neighbors[world_rank()]);
  EXPECT_EQ(lists.sources, neighbors[world_rank()]);
  EXPECT_TRUE(lists.origins.empty());
  EXPECT_FALSE(lists.grid);
  EXPECT_FALSE(lists.weighted);
}

struct Drawn {
  std::vector<Vertex> all;
  Ranks source_weights, target_weights;  // of this rank
};

// With repeated edges, self edges and ranks without any.
Drawn draw(unsigned seed) {
  std::mt19937 random(seed);
  const int ranks = world_size();
  graphs::Edges edges;
  for (std::size_t n = random() % (4 * ranks); n > 0; --n)
    edges.emplace_back(random() % ranks, random() % ranks);
  const std::size_t repeats = edges.empty() ? 0 : random() % 5;
  for (std::size_t n = 0; n < repeats; ++n) edges.push_back(edges[random() % edges.size()]);
  Drawn drawn{graphs::make(ranks, edges), {}, {}};
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const int weight = static_cast<int>(random() % 1000);
    if (edges[e].first == world_rank()) drawn.target_weights.push_back(weight);
    if (edges[e].second == world_rank()) drawn.source_weights.push_back(weight);
  }
  return drawn;
}

MPI_Comm adjacent(const Drawn& drawn, bool weighted) {
  const Vertex& v = drawn.all[world_rank()];
  const auto weights = [&](const Ranks& list) {
    return !weighted ? MPI_UNWEIGHTED : list.empty() ? MPI_WEIGHTS_EMPTY : list.data();
  };
  const auto data = [](const Ranks& list) {
    static const int none = 0;
    return list.empty() ? &none : list.data();
  };
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(v.sources.size()),
                                 data(v.sources), weights(drawn.source_weights),
                                 static_cast<int>(v.targets.size()), data(v.targets),
                                 weights(drawn.target_weights), MPI_INFO_NULL, 0, &made);
  return made;
}

TEST(ReadTopology, DistributedGraphFromAdjacentLists) {
  for (unsigned seed = 0; seed < static_cast<unsigned>(test::cases(100)) + 6; ++seed)
    for (const bool weighted : {false, true}) {
      SCOPED_TRACE(seed);
      const Drawn drawn = draw(seed);
      const OwnedComm graph(adjacent(drawn, weighted));
      const TopologyLists lists = read_topology(graph.get());
      EXPECT_EQ(lists.targets, drawn.all[world_rank()].targets);
      EXPECT_EQ(lists.sources, drawn.all[world_rank()].sources);
      EXPECT_TRUE(lists.origins.empty());
      EXPECT_FALSE(lists.grid);
      EXPECT_EQ(lists.weighted, weighted);
      EXPECT_EQ(lists.target_weights, weighted ? drawn.target_weights : Ranks());
      EXPECT_EQ(lists.source_weights, weighted ? drawn.source_weights : Ranks());

      const OwnedComm comm(duplicate_world());
      MpiBspComm bsp(comm.get());
      Vertex vertex = vertex_of(lists);
      const std::optional<Error> error = mirror(bsp, std::span(&vertex, 1));
      ASSERT_FALSE(error) << error->what();
      EXPECT_EQ(vertex.origins, drawn.all[world_rank()].origins);
    }
}

// Rank 0 describes everybody's edges. The order of the lists is the MPI's choice.
TEST(ReadTopology, DistributedGraphFromAnybodysEdges) {
  const Drawn drawn = draw(7);
  std::vector<int> from, degrees, to, weights;
  if (world_rank() == 0)
    for (const Vertex& v : drawn.all) {
      from.push_back(v.rank);
      degrees.push_back(static_cast<int>(v.targets.size()));
      for (std::int32_t target : v.targets)
        to.push_back(target), weights.push_back(100 * v.rank + target);
    }
  for (auto* list : {&from, &degrees, &to, &weights}) list->reserve(1);
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Dist_graph_create(MPI_COMM_WORLD, static_cast<int>(from.size()), from.data(), degrees.data(),
                        to.data(), weights.data(), MPI_INFO_NULL, 0, &made);
  const OwnedComm graph(made);
  const TopologyLists lists = read_topology(graph.get());
  ASSERT_TRUE(lists.weighted);
  const auto sorted = [](Ranks list) { return std::sort(list.begin(), list.end()), list; };
  EXPECT_EQ(sorted(lists.targets), sorted(drawn.all[world_rank()].targets));
  EXPECT_EQ(sorted(lists.sources), sorted(drawn.all[world_rank()].sources));
  for (std::size_t i = 0; i < lists.targets.size(); ++i)
    EXPECT_EQ(lists.target_weights[i], 100 * world_rank() + lists.targets[i]);
  for (std::size_t j = 0; j < lists.sources.size(); ++j)
    EXPECT_EQ(lists.source_weights[j], 100 * lists.sources[j] + world_rank());
}

// ---- What is no topology

TEST(ReadTopology, WithoutATopologyItSaysWhatToDo) {
  const Error error = test::error_of([] { read_topology(MPI_COMM_WORLD); });
  EXPECT_EQ(error.code(), Errc::topology);
  EXPECT_NE(std::string(error.what()).find("has no topology; make one with MPI_Cart_create"),
            std::string::npos);
  if (world_size() == 1) return;
  MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL;
  const bool low = world_rank() < world_size() / 2;
  MPI_Comm_split(MPI_COMM_WORLD, low, world_rank(), &half);
  const OwnedComm mine(half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? world_size() / 2 : 0, 5, &between);
  const OwnedComm both(between);
  EXPECT_EQ(
      std::string(test::error_of([&] { require_intracommunicator(between); }).what()).substr(0, 37),
      "an intercommunicator has no Cartesian");
}

TEST(ReadRanks, TakesRanksAndMPI_PROC_NULL) {
  const int last = world_size() - 1, list[] = {0, MPI_PROC_NULL, last};
  EXPECT_EQ(read_ranks(MPI_COMM_WORLD, 3, list, "source"), (Ranks{0, -1, last}));
  EXPECT_EQ(read_ranks(MPI_COMM_WORLD, 0, nullptr, "source"), Ranks());
  const auto says = [](int count, const int* ranks) {
    const Error error =
        test::error_of([&] { read_ranks(MPI_COMM_WORLD, count, ranks, "destination"); });
    EXPECT_EQ(error.code(), Errc::argument);
    return std::string(error.what());
  };
  EXPECT_EQ(says(-1, list), "the number of destinations is -1; it must not be negative");
  EXPECT_EQ(says(2, nullptr), "`destinations` is NULL, but its length is 2");
  for (int wrong : {world_size(), -77}) {
    const int bad[] = {0, wrong};
    EXPECT_EQ(says(2, bad),
              text("destination 1 of rank ", world_rank(), " is ", wrong, "; ranks go from 0 to ",
                   last, ", and MPI_PROC_NULL stands for none"));
  }
}

// ---- Nodes

// The parameter: up to how many ranks all tell all.
class ReadNode : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (const char* value = std::getenv("TONARI_NODES")) before_ = value;
    unsetenv("TONARI_NODES");
  }
  void TearDown() override {
    unsetenv("TONARI_NODES");
    if (before_) setenv("TONARI_NODES", before_->c_str(), 1);
  }
  static RankNode look_at_nodes() {
    const std::string text = nodes_in_environment();
    NodeMembers emulated;
    const std::optional<Error> error =
        tonari::error_of([&] { emulated = emulated_node(MPI_COMM_WORLD, text); });
    const Ballot ballot = nodes_ballot(text);
    if (!agree(MPI_COMM_WORLD, error, std::span(&ballot, 1))[0]) fail(Errc::mismatch, other_nodes);
    return read_node(
        MPI_COMM_WORLD, std::move(emulated), [] { stay_together(MPI_COMM_WORLD); }, GetParam());
  }
  std::optional<std::string> before_;
};

TEST_P(ReadNode, IsWhoSharesMemory) {
  const NodeMembers node = look_at_nodes().members;
  ASSERT_FALSE(node.ranks.empty());
  EXPECT_EQ(node.node, node.ranks.front());
  EXPECT_TRUE(std::is_sorted(node.ranks.begin(), node.ranks.end()));
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  const OwnedComm shared(made);
  int size = 0, mine = 0;
  MPI_Comm_size(made, &size);
  MPI_Comm_rank(made, &mine);
  ASSERT_EQ(node.ranks.size(), static_cast<std::size_t>(size));
  EXPECT_EQ(node.ranks[mine], world_rank());
}

TEST_P(ReadNode, CanBeMadeUp) {
  setenv("TONARI_NODES", "1,2", 1);
  const NodeMembers node = look_at_nodes().members;
  Ranks expected;
  for (int r = 0; r < world_size(); ++r)
    if ((r > 0) == (world_rank() > 0) && (r > 2) == (world_rank() > 2)) expected.push_back(r);
  EXPECT_EQ(node.ranks, expected);
  EXPECT_EQ(node.node, expected.front());
}

TEST_P(ReadNode, NonsenseFailsOnAllRanks) {
  setenv("TONARI_NODES", world_rank() == world_size() - 1 ? "many" : "2", 1);
  const Error error = test::error_of([] { look_at_nodes(); });
  EXPECT_EQ(error.code(), Errc::argument);
  const std::string who = world_size() > 1 ? "rank " + std::to_string(world_size() - 1) + ": " : "";
  EXPECT_EQ(std::string(error.what()).find(who + "TONARI_NODES is 'many';"), 0u) << error.what();
}

TEST_P(ReadNode, RanksMustNotDiffer) {
  if (world_size() == 1) GTEST_SKIP() << "one rank cannot differ";
  if (world_rank() > 0) setenv("TONARI_NODES", "2", 1);
  const Error error = test::error_of([] { look_at_nodes(); });
  EXPECT_EQ(error.code(), Errc::mismatch);
  EXPECT_EQ(std::string(error.what()).substr(0, 58),
            "the environment variable TONARI_NODES differs between rank");
}

INSTANTIATE_TEST_SUITE_P(ByAll, ReadNode, testing::Values(512));
INSTANTIATE_TEST_SUITE_P(ByTheMpi, ReadNode, testing::Values(0));

}  // namespace
}  // namespace tonari
