// SPDX-License-Identifier: BSD-3-Clause
// From start to wait: nothing is allocated, no collective is called, nothing is set up, and as many
// messages leave as the request says.
#include "support/counting.hpp"
#include "support/graph_exchange.hpp"

namespace {

using namespace tonari::test;

class StartToWait : public testing::Test {
 protected:
  void open(const Topology& topology) {
    t = topology;
    MPI_Comm cart = make_cart(t);
    MPI_Comm_rank(cart, &rank);
    ASSERT_OK(
        tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), MPI_INFO_NULL, &near));
    MPI_Comm_free(&cart);
  }
  void TearDown() override { tonari_neighborhood_free(&near); }

  Buffers plain(Operation op, int bytes) const {
    Random random(1);
    return {op,
            regular_side(random, Style::plain, gathers(op) ? 1 : t.count(), bytes),
            regular_side(random, Style::plain, t.count(), bytes),
            {}};
  }

  // Messages one exchange of b sends from here, counted at the MPI; -1 if the algorithm does not
  // apply. `where`: the Topology or Graph that says whose blocks are right.
  template <typename Where>
  long counted(Operation op, Buffers b, const Where& where, const std::string& algorithm,
               const std::string& channel) {
    const Info info{
        {"tonari_algorithm", algorithm}, {"tonari_channel", channel}, {"tonari_tune", "off"}};
    tonari_request request = TONARI_REQUEST_NULL;
    const int code = init(op, b.out, b.in, near, info, &request);
    if (code == TONARI_ERR_ALGORITHM) return -1;
    EXPECT_OK(code);
    if (code != TONARI_SUCCESS) return -1;
    long sent = 0;
    for (int round = 0; round < 2; ++round) {
      b.prepare(rank, round);
      sent = counted_exchange(request, round == 1).sends;
      EXPECT_EQ(b.wrong(where, rank, round), "");
    }
    tonari_request_info about;
    EXPECT_OK(tonari_request_get_info(request, &about));
    EXPECT_EQ(sent, about.messages);
    EXPECT_OK(tonari_request_free(&request));
    return sent;
  }

  long messages(Operation op, int bytes, const std::string& algorithm, const std::string& channel) {
    SCOPED_TRACE(std::string(name(op)) + " of " + std::to_string(bytes) + " bytes by " + algorithm +
                 " over " + channel);
    return counted(op, plain(op, bytes), t, algorithm, channel);
  }

  static Counts counted_exchange(tonari_request request, bool by_test) {
    int flag = 0, codes = 0;
    arm();
    codes |= tonari_start(request);
    while (by_test && !flag) codes |= tonari_test(request, &flag);
    if (!by_test) codes |= tonari_wait(request);
    const Counts counts = disarm();
    EXPECT_OK(codes);
    EXPECT_EQ(counts.collectives, 0) << counts.first;
    EXPECT_EQ(counts.setups, 0) << counts.first;
    EXPECT_EQ(counts.allocations, 0);
    return counts;
  }

  // MPI calls of start, and of a wait that begins when all ranks have started and the MPI has had
  // time to deliver what is short.
  static std::pair<long, long> calls_when_all_is_there(tonari_request request) {
    arm();
    EXPECT_OK(tonari_start(request));
    const long starting = disarm().calls;
    for (int k = 0; k < 20; ++k) MPI_Barrier(MPI_COMM_WORLD);
    arm();
    EXPECT_OK(tonari_wait(request));
    return {starting, disarm().calls};
  }

  int rank = 0;
  Topology t;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
};

constexpr const char* algorithms[] = {"linear",         "torus",       "torus-direct",
                                      "additive-basis", "joint-basis", "irecv"};
constexpr const char* channels[] = {"p2p-typed", "p2p-packed"};

TEST_F(StartToWait, TheCountersCount) {
  arm();
  void* volatile p = std::malloc(10);
  std::free(p);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Datatype type;
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Type_free(&type);
  const Counts counts = disarm();
  EXPECT_EQ(counts.allocations, counts_allocations() ? 1 : 0);
  EXPECT_EQ(counts.collectives, 1);
  EXPECT_EQ(counts.setups, 2);
  EXPECT_STREQ(counts.first, "MPI_Barrier");
}

TEST_F(StartToWait, AllocatesNothingAndCallsNoCollective) {
  Topology line = torus_of_all(1);
  line.offsets = box(1, -2, 2);
  open(line);
  const bool slow = mpi_spins() && world_size() > 2;
  for (const char* algorithm : algorithms)
    for (const char* channel : channels)
      for (Operation op : {Operation::alltoall, Operation::allgather})
        for (int bytes : {8, 40000}) {
          if (slow && (bytes > 8 || op == Operation::allgather)) continue;
          const long sent = messages(op, bytes, algorithm, channel);
          EXPECT_TRUE(sent >= 0 || std::string(algorithm) == "additive-basis") << algorithm;
        }
}

// Where nothing waits for anything: one call starts all messages, and one completes them if they
// are there. (If not, it is repeated: docs/adr/0035.) More bytes are packed message by message.
TEST_F(StartToWait, SmallBlocksTakeTwoCalls) {
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks";
  Topology line = torus_of_all(1);
  line.offsets = box(1, -2, 2);
  open(line);
  const int ranks = world_size();
  for (const char* channel : channels)
    for (int bytes : {8, 4000}) {
      Buffers b = plain(Operation::alltoall, bytes);
      tonari_request request = TONARI_REQUEST_NULL;
      ASSERT_OK(init(
          Operation::alltoall, b.out, b.in, near,
          Info{{"tonari_algorithm", "linear"}, {"tonari_channel", channel}, {"tonari_tune", "off"}},
          &request));
      b.prepare(rank, 0);
      const auto [starting, completing] = calls_when_all_is_there(request);
      EXPECT_EQ(b.wrong(t, rank, 0), "");
      tonari_request_info about;
      EXPECT_OK(tonari_request_get_info(request, &about));
      // Only on three or four ranks are the blocks for one rank not side by side. Then one call
      // starts all receives, and one each message.
      const bool packs = std::string(channel) == "p2p-packed" && ranks > 2 && ranks < 5;
      EXPECT_EQ(starting, packs && bytes > 8 ? 1 + about.messages : 1) << channel << ", " << bytes;
      if (bytes == 8) {
        EXPECT_EQ(completing, 1) << channel;
      } else {
        EXPECT_GE(completing, 1) << channel;
      }
      EXPECT_OK(tonari_request_free(&request));
    }
}

TEST_F(StartToWait, OnAMesh) {
  Topology mesh = torus_of_all(2);
  mesh.periods = {0, 0};
  mesh.offsets = box(2, -1, 1);
  open(mesh);
  for (const char* algorithm : {"linear", "torus"})
    for (const char* channel : channels)
      EXPECT_GE(messages(Operation::alltoall, 64, algorithm, channel), 0);
}

TEST_F(StartToWait, AllBlocksForOneRankTravelInOneMessage) {
  if (world_size() != 8) GTEST_SKIP() << "for 8 ranks";
  Topology cube = torus_of_all(3);
  cube.offsets = box(3, -1, 1);
  open(cube);
  for (const char* channel : channels) {
    EXPECT_EQ(messages(Operation::alltoall, 8, "linear", channel), 7);
    EXPECT_EQ(messages(Operation::alltoall, 8, "torus", channel), 3);
    EXPECT_EQ(messages(Operation::allgather, 8, "torus", channel), 3);
    EXPECT_EQ(messages(Operation::alltoall, 8, "irecv", channel), 26);
  }
}

class StartToWaitOnGraphs : public StartToWait {
 protected:
  void SetUp() override {
    if (mpi_spins() && world_size() > 3)
      GTEST_SKIP() << "slow where ranks that spin outnumber the cores; the same as on three ranks";
  }
  void open_graph(const Edges& edges) {
    rank = world_rank();
    graph = make_graph(world_size(), edges);
    ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[rank], MPI_INFO_NULL, &near));
  }

  long messages(Operation op, bool by_rank, const std::string& algorithm,
                const std::string& channel) {
    SCOPED_TRACE(std::string(name(op)) + (by_rank ? " of many sizes by " : " by ") + algorithm +
                 " over " + channel);
    Random random(1);
    return counted(op, make_buffers(random, graph, rank, op, {8, 40, !by_rank, by_rank, 3}), graph,
                   algorithm, channel);
  }

  Graph graph;
  Nodes nodes;
};

TEST_F(StartToWaitOnGraphs, AllocatesNothingAndCallsNoCollective) {
  Nodes::set("2,1");
  open_graph(all_pairs(world_size()));
  for (const char* algorithm :
       {"linear", "coloring", "tree", "node-aware", "common-neighborhood", "irecv"})
    for (const char* channel : channels)
      for (Operation op : {Operation::alltoallw, Operation::allgatherv}) {
        if (mpi_spins() && world_size() > 2 &&
            (op == Operation::alltoallw) == (channel == channels[0]))
          continue;
        const long sent = messages(op, true, algorithm, channel);
        EXPECT_TRUE(sent >= 0 ||
                    (std::string(algorithm) != "linear" && std::string(algorithm) != "irecv"))
            << "does not apply";
      }
}

TEST_F(StartToWaitOnGraphs, OneMessagePerPairOfRanks) {
  // Three blocks to the next rank, one to itself.
  Edges edges;
  for (int r = 0; r < world_size(); ++r) {
    edges.insert(edges.end(), 3, {r, (r + 1) % world_size()});
    edges.emplace_back(r, r);
  }
  open_graph(edges);
  const int others = world_size() > 1;
  for (const char* channel : channels) {
    EXPECT_EQ(messages(Operation::allgather, false, "linear", channel), others);
    EXPECT_EQ(messages(Operation::alltoall, false, "linear", channel), others);
    EXPECT_EQ(messages(Operation::alltoall, false, "irecv", channel), 3 * others);
  }
}

class StartToWait27 : public StartToWait {};
TEST_F(StartToWait27, SixMessagesInsteadOfTwentySix) {
  if (world_size() != 27) GTEST_SKIP() << "for 27 ranks";
  Topology cube = torus_of_all(3);
  cube.offsets = box(3, -1, 1);
  open(cube);
  for (const char* channel : channels)
    EXPECT_EQ(messages(Operation::alltoall, 8, "torus", channel), 6);
  EXPECT_EQ(messages(Operation::alltoall, 8, "linear", "p2p-packed"), 26);
  EXPECT_EQ(messages(Operation::allgather, 8, "torus", "p2p-packed"), 6);
  EXPECT_EQ(messages(Operation::alltoall, 8, "torus-direct", "p2p-packed"), 6);
}

}  // namespace
