// SPDX-License-Identifier: BSD-3-Clause
// Neighborhoods of communicators with a topology, and graphs over grids: who the neighbors are, in
// which order, and which planners they get.
#include "support/graph_exchange.hpp"

namespace {

using namespace tonari::test;

// ---- Cartesian communicators

class FromComm : public GraphExchange {
 protected:
  static int few_cases() { return mpi_spins() && world_size() > 5 ? 0 : std::min(cases(30), 30); }
  // A few exchanges on the neighborhood of a communicator. Frees the communicator first.
  void run(MPI_Comm comm, const Graph& graph, std::initializer_list<Way> ways, Random& common) {
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    const int code = tonari_neighborhood_create_from_comm(comm, MPI_INFO_NULL, &near);
    MPI_Comm_free(&comm);
    ASSERT_OK(code);
    check_lists(near, graph.of[world_rank()]);
    for (const Way& way : ways) {
      const auto op = all_operations[pick(common, 0, 5)];
      const Applies expected =
          way.algorithm == "native" ? applies(graph, op, way.algorithm) : Applies::always;
      exchange(near, graph, op,
               {4, pick(common, 1, 40), form(op) == 0, form(op) != 0,
                static_cast<std::uint32_t>(common())},
               way, expected, common);
    }
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
};

// All shapes of up to three dimensions with as many ranks as there are, and all mixes of meshes and
// rings.
std::vector<Topology> all_grids(int ranks) {
  std::vector<Topology> all;
  const auto add = [&](const std::vector<int>& dims) {
    for (int mask = 0; mask < 1 << dims.size(); ++mask) {
      Topology t{dims, {}, {}, ""};
      for (std::size_t j = 0; j < dims.size(); ++j) t.periods.push_back(mask >> j & 1);
      all.push_back(std::move(t));
    }
  };
  add({ranks});
  for (int a = 1; a <= ranks; ++a) {
    if (ranks % a) continue;
    add({a, ranks / a});
    for (int b = 1; b <= ranks / a; ++b)
      if (ranks / a % b == 0) add({a, b, ranks / a / b});
  }
  return all;
}

TEST_F(FromComm, CartesianOfAllShapesAndPeriods) {
  Random common(5);
  const std::vector<Topology> grids = all_grids(world_size());
  const int skip = ranks_are_slow() ? (mpi_spins() ? 80 : 4) : mpi_spins() ? 3 : 1;
  for (const Topology& grid : grids) {
    if (pick(common, 1, skip) > 1 && world_size() > 1) continue;
    Graph graph = cartesian_graph(grid, world_size());
    std::ostringstream label;
    for (int j = 0; j < grid.dimensions(); ++j)
      label << ' ' << grid.dims[j] << (grid.periods[j] ? "p" : "m");
    graph.name += label.str();
    SCOPED_TRACE(graph.name);
    run(make_cart(grid), graph,
        {{"auto"},
         {"torus", "p2p-packed"},
         {"linear", "p2p-typed"},
         {"native"},
         {"torus-direct", "p2p-typed"}},
        common);
  }
}

// ---- MPI_Graph_create and MPI_Dist_graph_create_adjacent

TEST_F(FromComm, GraphCommunicators) {
  Random common(11);
  for (int k = 0; k < few_cases(); ++k) {
    // Symmetric, because the same list is for sending and receiving; with repeats and self edges.
    std::vector<std::vector<int>> lists(world_size());
    for (int e = pick(common, 0, 3 * world_size()); e > 0; --e) {
      const int a = pick(common, 0, world_size() - 1), b = pick(common, 0, world_size() - 1);
      lists[a].push_back(b);
      if (a != b) lists[b].push_back(a);
    }
    Graph graph{{}, "graph communicator"};
    std::vector<int> index, edges;
    for (auto& list : lists) {
      std::shuffle(list.begin(), list.end(), common);
      graph.of.push_back({list, list, {}});
      edges.insert(edges.end(), list.begin(), list.end());
      index.push_back(static_cast<int>(edges.size()));
    }
    find_origins(graph);
    edges.push_back(0);  // so that it has an address
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Graph_create(MPI_COMM_WORLD, world_size(), index.data(), edges.data(), 0, &comm);
    run(comm, graph, {{"auto"}, {"linear", "p2p-packed"}, {"native"}}, common);
  }
}

TEST_F(FromComm, DistributedGraphsWithRepeatedEdges) {
  Random common(13);
  for (int k = 0; k < few_cases(); ++k) {
    Edges edges = anything(common, world_size());
    edges.insert(edges.end(), edges.begin(),
                 edges.begin() + static_cast<std::ptrdiff_t>(edges.size() / 2));
    Graph graph = make_graph(world_size(), edges);
    graph.name = "distributed graph";
    Lists mine = graph.of[world_rank()];
    const int in = static_cast<int>(mine.sources.size()),
              out = static_cast<int>(mine.targets.size());
    mine.sources.push_back(0), mine.targets.push_back(0);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, mine.sources.data(), MPI_UNWEIGHTED, out,
                                   mine.targets.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    run(comm, graph, {{"auto"}, {"linear", "p2p-typed"}, {"native"}}, common);
  }
}

// Recognized as offsets, blocks lie in another order than the program's; errors name them by the
// program's numbers.
TEST_F(FromComm, ErrorsNameBlocksAsTheProgramNumbersThem) {
  const int ranks = world_size(), rank = world_rank(), last = ranks - 1;
  if (ranks < 3) GTEST_SKIP() << "both blocks come from one rank";
  MPI_Comm ring = make_cart(torus_of_all(1));
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(tonari_neighborhood_create_from_comm(ring, MPI_INFO_NULL, &near));
  MPI_Comm_free(&ring);
  int out[8] = {}, in[8] = {};
  const int two[] = {2, 2}, odd[] = {3, 2};
  const MPI_Aint ours[] = {reinterpret_cast<MPI_Aint>(out), reinterpret_cast<MPI_Aint>(out + 4)};
  const MPI_Aint theirs[] = {reinterpret_cast<MPI_Aint>(in), reinterpret_cast<MPI_Aint>(in + 4)};
  const MPI_Aint nowhere[] = {0, theirs[1]}, overlapping[] = {ours[0], theirs[1]};
  const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
  // heard: by both ends of a block, or by all that exchange with a rank
  const auto refused = [&](int code, const int* received, const MPI_Aint* into, bool heard,
                           const std::string& words) {
    const bool errs = rank == last;
    EXPECT_EQ(tonari_alltoallw(MPI_BOTTOM, two, ours, ints, MPI_BOTTOM, errs ? received : two,
                               errs ? into : theirs, ints, near),
              heard ? code : TONARI_SUCCESS);
    const std::string sentence = tonari_last_error();
    EXPECT_TRUE(!heard || sentence.find(words) != std::string::npos) << sentence;
  };
  const bool end = rank >= last - 1, near_last = end || rank == 0;
  refused(TONARI_ERR_MISMATCH, odd, theirs, end,
          "block 0 from rank " + std::to_string(last - 1) + " to rank " + std::to_string(last));
  refused(TONARI_ERR_ARGUMENT, two, nowhere, near_last,
          "receive block 0 has 8 bytes, but `recvbuf` is NULL");
  refused(TONARI_ERR_BUFFERS, two, overlapping, near_last,
          "send block 0 and receive block 0 overlap");
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// ---- Lists over a grid

class OverAGrid : public GraphExchange {
 protected:
  void SetUp() override {
    if (mpi_spins() && world_size() > 5)
      GTEST_SKIP() << "slow where ranks that spin outnumber the cores; the same as on five ranks";
  }
  static Topology random_grid(Random& common) {
    Topology grid;
    grid.dims.assign(pick(common, 1, 3), 0);
    MPI_Dims_create(world_size(), grid.dimensions(), grid.dims.data());
    for (int j = 0; j < grid.dimensions(); ++j) grid.periods.push_back(pick(common, 0, 1));
    for (int n = pick(common, 1, 8) * grid.dimensions(); n > 0; --n)
      grid.offsets.push_back(pick(common, -2, 2));
    return grid;
  }
  // The lists of the offsets, sources in an order of their own; a neighbor that does not exist is
  // left out, or MPI_PROC_NULL.
  static Graph graph_of(const Topology& grid, bool holes, Random& common) {
    Graph graph{std::vector<Lists>(world_size()), "offsets"};
    for (int rank = 0; rank < world_size(); ++rank) {
      for (int i = 0; i < grid.count(); ++i) {
        const int target = grid.target(rank, i), source = grid.source(rank, i);
        if (target >= 0 || holes) graph.of[rank].targets.push_back(target);
        if (source >= 0 || holes) graph.of[rank].sources.push_back(source);
      }
      std::shuffle(graph.of[rank].sources.begin(), graph.of[rank].sources.end(), common);
    }
    find_origins(graph);
    return graph;
  }
  void run(const Topology& grid, const Graph& graph, const Way& way, Operation op, Applies expected,
           Random& common) {
    MPI_Comm cart = make_cart(grid);
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    const int code = create_adjacent(cart, graph.of[world_rank()], MPI_INFO_NULL, &near);
    MPI_Comm_free(&cart);
    ASSERT_OK(code);
    check_lists(near, graph.of[world_rank()]);
    exchange(near, graph, op,
             {4, pick(common, 1, 60), form(op) == 0, form(op) != 0,
              static_cast<std::uint32_t>(common())},
             way, expected, common);
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
};

TEST_F(OverAGrid, ListsOfTheSameOffsetsGetThePlannersForThem) {
  Random common(19);
  for (int k = 0; k < std::max(2, std::min(cases(200), 100)); ++k) {
    SCOPED_TRACE(k);
    const Topology grid = random_grid(common);
    const Graph graph = graph_of(grid, pick(common, 0, 1), common);
    const Way way{pick(common, 0, 1) ? "torus" : "torus-direct", random_channel(common)};
    run(grid, graph, way, all_operations[pick(common, 0, 5)], Applies::always, common);
  }
  EXPECT_GT(ran["torus"] + ran["torus-direct"], 0);
}

TEST_F(OverAGrid, OtherListsDoNot) {
  if (world_size() < 3) GTEST_SKIP() << "with two ranks everything is the same offsets";
  Random common(23);
  Topology ring = torus_of_all(1);
  Graph graph = make_graph(world_size(), star(world_size(), 1, true));
  run(ring, graph, {"torus"}, Operation::alltoall, Applies::never, common);
  // The order counts as well: one rank sends first to the left, the others first to the right.
  ring.offsets = {1, -1, 1};
  graph = graph_of(ring, false, common);
  std::swap(graph.of[1].targets[0], graph.of[1].targets[1]);
  std::swap(graph.of[1].targets[1], graph.of[1].targets[2]);
  find_origins(graph);
  run(ring, graph, {"torus-direct"}, Operation::alltoallw, Applies::never, common);
  if (mpi_spins() && ranks_are_slow()) return;
  run(ring, graph, {"linear"}, Operation::alltoallw, Applies::always, common);
}

}  // namespace
