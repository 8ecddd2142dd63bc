// SPDX-License-Identifier: BSD-3-Clause
// Starts with buffers of their own: every operation, algorithm and channel, with any number of
// buffers in turn, plain starts among them, and what is refused.
#include "support/counting.hpp"
#include "support/graph_exchange.hpp"
#include "support/grid_graph.hpp"

namespace {

using namespace tonari::test;

// A request with several pairs of buffers. The one in `b` is bound after the last start.
struct Rebound {
  struct Pair {
    std::vector<Byte> out, in;
  };
  Rebound(Buffers buffers, std::size_t pairs) : b(std::move(buffers)), spare(pairs - 1) {
    for (Pair& pair : spare) pair = {b.out.memory, b.in.memory};
  }
  ~Rebound() { EXPECT_OK(tonari_request_free(&request)); }
  Rebound(const Rebound&) = delete;
  Rebound& operator=(const Rebound&) = delete;

  bool open(tonari_neighborhood near, MPI_Info info) {
    const int code = init(b.op, b.out, b.in, near, info, &request);
    b.out.free_types(), b.in.free_types();
    EXPECT_TRUE(code == TONARI_SUCCESS || code == TONARI_ERR_ALGORITHM) << tonari_last_error();
    return code == TONARI_SUCCESS;
  }
  // pair: 0 is the one bound.
  int start_with(std::size_t pair, int round) {
    if (pair > 0) b.out.memory.swap(spare[pair - 1].out), b.in.memory.swap(spare[pair - 1].in);
    b.prepare(world_rank(), round);
    return tonari_start_with(request, b.out.buffer(), b.in.buffer());
  }
  int start(int round) {
    b.prepare(world_rank(), round);
    return tonari_start(request);
  }

  Buffers b;
  std::vector<Pair> spare;
  tonari_request request = TONARI_REQUEST_NULL;
};

class StartWith : public GraphExchange {
 protected:
  struct Where {
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    Graph graph;
    ~Where() { EXPECT_OK(tonari_neighborhood_free(&near)); }
  };

  static void open(Where& where, const Topology& t) {
    where.graph = graph_of(t);
    MPI_Comm cart = make_cart(t);
    ASSERT_OK(tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), MPI_INFO_NULL,
                                              &where.near));
    MPI_Comm_free(&cart);
  }
  static void open(Where& where, Graph graph) {
    where.graph = std::move(graph);
    ASSERT_OK(create_adjacent(MPI_COMM_WORLD,
                              where.graph.of[static_cast<std::size_t>(world_rank())], MPI_INFO_NULL,
                              &where.near));
  }

  static Rebound make(const Where& where, Operation op, const Sizes& sizes, std::size_t pairs,
                      Random& common) {
    Random own(common() + 977u * static_cast<unsigned>(world_rank()));
    return Rebound(make_buffers(own, where.graph, world_rank(), op, sizes), pairs);
  }

  // Whether the algorithm applies. Each rank draws its pairs for itself.
  static bool alternate(const Where& where, Operation op, const Sizes& sizes,
                        const std::string& algorithm, const std::string& channel, Random& common) {
    const std::size_t pairs = (common() % 3 == 0) ? 12 : 1 + common() % 3;
    SCOPED_TRACE(std::string(name(op)) + " by " + algorithm + " over " + channel + ", blocks of " +
                 std::to_string(sizes.quantum) + " * " + std::to_string(sizes.most) + ", " +
                 std::to_string(pairs) + " pairs, on " + where.graph.name);
    Rebound r = make(where, op, sizes, pairs, common);
    const Info info{
        {"tonari_algorithm", algorithm}, {"tonari_channel", channel}, {"tonari_tune", "off"}};
    if (!r.open(where.near, info)) return false;
    Random own(common() + static_cast<unsigned>(world_rank()));
    const int rounds = pairs > 8 ? 20 : 6;
    for (int round = 0; round < rounds; ++round) {
      if (common() % 4 == 0)
        EXPECT_OK(r.start(round));
      else
        EXPECT_OK(r.start_with(own() % pairs, round));
      EXPECT_OK(complete(r.request, (world_rank() + round) % 2));
      EXPECT_EQ(r.b.wrong(where.graph, world_rank(), round), "")
          << "round " << round << "\n"
          << tonari_request_describe(r.request);
    }
    return true;
  }

  static std::string channel_for(const std::string& algorithm, Random& common) {
    const std::string channel = random_channel(common);
    return algorithm == "native" ? "auto" : channel;
  }
  // MPICH 4 loses bytes of long messages between types that are made of different elements.
  static bool too_long_for_native(const std::string& algorithm, const Sizes& sizes) {
    return algorithm == "native" && mpi_spins() && sizes.quantum * sizes.most >= 4000;
  }
  // Any operation and sizes.
  static bool alternate_any(const Where& where, const char* algorithm, Random& common) {
    const auto op = all_operations[common() % 6];
    const Sizes sizes = random_sizes(common, op, true);
    const std::string channel = channel_for(algorithm, common);
    return !too_long_for_native(algorithm, sizes) &&
           alternate(where, op, sizes, algorithm, channel, common);
  }
};

constexpr const char* on_grids[] = {"linear",      "torus", "torus-direct", "additive-basis",
                                    "joint-basis", "irecv", "native"};
constexpr const char* on_graphs[] = {"linear",
                                     "coloring",
                                     "tree",
                                     "node-aware",
                                     "store-and-forward",
                                     "message-sharing",
                                     "balanced",
                                     "common-neighborhood",
                                     "irecv",
                                     "native"};

TEST_F(StartWith, OnGrids) {
  Random common(41);
  for (int k = 0; k < cases(12); ++k) {
    Topology t = torus_of_all(1 + k % 2);
    if (k % 4 == 3) t.periods.assign(t.periods.size(), 0);
    t.offsets = box(t.dimensions(), -1, 1 + k % 2);
    Where where;
    open(where, t);
    for (const char* algorithm : on_grids)
      ran[algorithm] += alternate_any(where, algorithm, common);
  }
  for (const char* algorithm : {"linear", "torus", "torus-direct", "irecv"})
    EXPECT_GT(ran[algorithm], 0) << algorithm;
}

TEST_F(StartWith, OnGraphs) {
  Random common(42);
  for (int k = 0; k < cases(12); ++k) {
    const Split& split = splits[common() % std::size(splits)];
    Nodes::set(split.text);
    Where where;
    open(where, random_graph(common, world_size()));
    for (const char* algorithm : on_graphs)
      ran[algorithm] += alternate_any(where, algorithm, common);
  }
  EXPECT_GT(ran["linear"], 0);
}

// Messages that are cut in parts, or read where they lie.
TEST_F(StartWith, LongBlocksOverEveryChannel) {
  Random common(43);
  Where where;
  open(where, make_graph(world_size(), all_pairs(world_size())));
  for (const char* channel : channel_names)
    for (const auto& [op, most] :
         {std::pair(Operation::alltoall, 40'000), std::pair(Operation::alltoallw, 20'000),
          std::pair(Operation::allgather, 400'000)}) {
      if (ranks_are_slow() && op != Operation::alltoall) continue;
      alternate(where, op, {1, most, true, false, 0}, "linear", channel, common);
    }
}

TEST_F(StartWith, WithoutCopiesAndImmediate) {
  Random common(44);
  Topology t = torus_of_all(1);
  t.offsets = box(1, -2, 2);
  Where where;
  open(where, t);
  for (const char* variant : {"p2p-typed", "p2p-packed"})
    for (const auto op : all_operations)
      for (const int most : {2, 3000})
        EXPECT_TRUE(alternate(where, op, {4, most, true, false, 0}, "torus", variant, common));
}

TEST_F(StartWith, ByAThread) {
  int provided = 0;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "needs MPI_THREAD_MULTIPLE";
  Random common(45);
  Where where;
  open(where, make_graph(world_size(), all_pairs(world_size())));
  Rebound r = make(where, Operation::alltoall, {8, 10, true, false, 0}, 3, common);
  ASSERT_TRUE(r.open(where.near, Info{{"tonari_progress", "thread"}, {"tonari_tune", "off"}}));
  for (int round = 0; round < 6; ++round) {
    EXPECT_OK(r.start_with(static_cast<std::size_t>(round) % 3, round));
    EXPECT_OK(tonari_wait(r.request));
    EXPECT_EQ(r.b.wrong(where.graph, world_rank(), round), "");
  }
}

TEST_F(StartWith, ManyInFlight) {
  Random common(46);
  Topology t = torus_of_all(1);
  t.offsets = box(1, -1, 1);
  Where where;
  open(where, t);
  std::vector<std::unique_ptr<Rebound>> all;
  for (int k = 0; k < 12; ++k) {
    Random own(common() + static_cast<unsigned>(world_rank()));
    all.push_back(std::make_unique<Rebound>(
        make_buffers(own, where.graph, world_rank(), all_operations[k % 6],
                     {4, k < 6 ? 5 : 9000, true, false, 0}),
        2 + k % 2));
    const Info info{{"tonari_algorithm", k % 2 ? "linear" : "torus"},
                    {"tonari_channel", channel_names[k % 5]},
                    {"tonari_tune", "off"}};
    ASSERT_TRUE(all.back()->open(where.near, info));
  }
  std::vector<tonari_request> requests;
  for (const auto& r : all) requests.push_back(r->request);
  for (int round = 0; round < 4; ++round) {
    for (const auto& r : all) EXPECT_OK(r->start_with(static_cast<std::size_t>(round % 2), round));
    EXPECT_OK(tonari_waitall(static_cast<int>(requests.size()), requests.data()));
    for (const auto& r : all) EXPECT_EQ(r->b.wrong(where.graph, world_rank(), round), "");
  }
}

// Of pairs that were used before.
TEST_F(StartWith, AllocatesNothing) {
  Random common(47);
  Topology t = torus_of_all(1);
  t.offsets = box(1, -2, 2);
  Where where;
  open(where, t);
  for (const char* channel : channel_names)
    for (const int most : {2, 10'000})
      for (const auto op : {Operation::alltoall, Operation::alltoallw}) {
        if (ranks_are_slow() && (most > 2 || op == Operation::alltoallw)) continue;
        SCOPED_TRACE(std::string(name(op)) + " over " + channel);
        Rebound r = make(where, op, {4, most, true, false, 0}, 8, common);
        ASSERT_TRUE(r.open(where.near, Info{{"tonari_algorithm", "torus"},
                                            {"tonari_channel", channel},
                                            {"tonari_tune", "off"}}));
        for (int round = 0; round < 24; ++round) {
          if (round > 0) {
            Rebound::Pair& next = r.spare[static_cast<std::size_t>(round - 1) % 7];
            r.b.out.memory.swap(next.out), r.b.in.memory.swap(next.in);
          }
          r.b.prepare(world_rank(), round);
          arm();
          const int codes = tonari_start_with(r.request, r.b.out.buffer(), r.b.in.buffer()) |
                            tonari_wait(r.request);
          const Counts counts = disarm();
          EXPECT_OK(codes);
          EXPECT_EQ(counts.collectives, 0) << counts.first;
          if (round >= 16) {
            EXPECT_EQ(counts.setups, 0) << counts.first << ", round " << round;
            EXPECT_EQ(counts.allocations, 0) << "round " << round;
          }
          EXPECT_EQ(r.b.wrong(where.graph, world_rank(), round), "");
        }
      }
}

// Blocks at absolute addresses: what is given is added to them.
TEST_F(StartWith, AbsoluteAddresses) {
  Where where;
  Topology t = torus_of_all(1);
  t.offsets = {1};
  open(where, t);
  const int next = (world_rank() + world_size() - 1) % world_size();
  std::vector<double> memory(6, -1);
  MPI_Aint from = 0, to = 0;
  MPI_Get_address(memory.data(), &from), MPI_Get_address(&memory[1], &to);
  const int one = 1;
  const MPI_Datatype type = MPI_DOUBLE;
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_alltoallw_init(MPI_BOTTOM, &one, &from, &type, MPI_BOTTOM, &one, &to, &type,
                                  where.near, Info{{"tonari_tune", "off"}}, &request));
  for (int k : {2, 0, 1}) {
    memory[static_cast<std::size_t>(2 * k)] = 10 * k + world_rank();
    void* const by = reinterpret_cast<void*>(2 * sizeof(double) * static_cast<std::size_t>(k));
    EXPECT_OK(tonari_start_with(request, by, by));
    EXPECT_OK(tonari_wait(request));
    EXPECT_EQ(memory[static_cast<std::size_t>(2 * k + 1)], 10 * k + next);
  }
  EXPECT_OK(tonari_request_free(&request));
}

class StartWithErrors : public StartWith {
 protected:
  void SetUp() override {
    Topology t = torus_of_all(1);
    t.offsets = box(1, -1, 1);
    open(where, t);
  }
  tonari_request request(const Info& info) {
    tonari_request made = TONARI_REQUEST_NULL;
    EXPECT_OK(
        tonari_alltoall_init(memory, 1, MPI_INT, memory + 2, 1, MPI_INT, where.near, info, &made));
    return made;
  }
  static void expect(int code, int wanted, const char* part) {
    EXPECT_EQ(code, wanted);
    EXPECT_NE(std::string(tonari_last_error()).find(part), std::string::npos)
        << tonari_last_error();
  }

  Where where;
  int memory[8] = {};
};

// Nothing is started then, and the request can be.
TEST_F(StartWithErrors, BuffersAreChecked) {
  tonari_request r = request(Info{{"tonari_tune", "off"}});
  expect(tonari_start_with(TONARI_REQUEST_NULL, memory, memory + 2), TONARI_ERR_ARGUMENT,
         "`request` is NULL");
  expect(tonari_start_with(r, nullptr, memory), TONARI_ERR_ARGUMENT, "`sendbuf` is NULL");
  expect(tonari_start_with(r, memory, nullptr), TONARI_ERR_ARGUMENT, "`recvbuf` is NULL");
  expect(tonari_start_with(r, memory, memory + 1), TONARI_ERR_BUFFERS, "overlap");
  expect(tonari_start_with(r, memory, memory), TONARI_ERR_BUFFERS, "overlap");
  EXPECT_OK(tonari_start(r));
  expect(tonari_start_with(r, memory + 4, memory + 6), TONARI_ERR_ACTIVE, "already started");
  EXPECT_OK(tonari_wait(r));
  memory[4] = 10 * world_rank(), memory[5] = memory[4] + 1;
  EXPECT_OK(tonari_start_with(r, memory + 4, memory + 6));
  EXPECT_OK(tonari_wait(r));
  const int ranks = world_size();
  EXPECT_EQ(memory[6], 10 * ((world_rank() + 1) % ranks));
  EXPECT_EQ(memory[7], 10 * ((world_rank() + ranks - 1) % ranks) + 1);
  EXPECT_OK(tonari_request_free(&r));
}

TEST_F(StartWithErrors, OtherRequestsKeepTheirs) {
  tonari_request r = request(Info{{"tonari_tune", "off"}, {"tonari_recv_view", "yes"}});
  expect(tonari_start_with(r, memory, memory + 2), TONARI_ERR_ARGUMENT, "tonari_recv_view");
  EXPECT_OK(tonari_request_free(&r));
  std::vector<int> in_place(static_cast<std::size_t>(world_size()));
  EXPECT_OK(
      tonari_alltoall_inplace_init(in_place.data(), 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
  expect(tonari_start_with(r, memory, memory + 2), TONARI_ERR_ARGUMENT, "in place");
  EXPECT_OK(tonari_request_free(&r));
  EXPECT_OK(tonari_ialltoall(memory, 1, MPI_INT, memory + 2, 1, MPI_INT, where.near, &r));
  EXPECT_OK(tonari_wait(r));
  expect(tonari_start_with(r, memory, memory + 2), TONARI_ERR_ARGUMENT, "one-shot");
  EXPECT_OK(tonari_request_free(&r));
}

TEST_F(StartWithErrors, PromisedBuffersStay) {
  Topology t = torus_of_all(1);
  t.offsets = box(1, -1, 1);
  MPI_Comm cart = make_cart(t);
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(tonari_neighborhood_create_cart(cart, 2, t.offsets.data(),
                                            Info{{"cdag_static_buffers", "true"}}, &near));
  MPI_Comm_free(&cart);
  tonari_request r = TONARI_REQUEST_NULL;
  ASSERT_OK(
      tonari_alltoall_init(memory, 1, MPI_INT, memory + 2, 1, MPI_INT, near, MPI_INFO_NULL, &r));
  expect(tonari_start_with(r, memory, memory + 2), TONARI_ERR_ARGUMENT, "cdag_static_buffers");
  EXPECT_OK(tonari_request_free(&r));
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// Each rank by itself: what cannot be bound for lack of memory is an error, and leaves nothing.
TEST(StartWithMemory, RunsOut) {
  if (!counts_allocations()) GTEST_SKIP() << "allocations are not counted";
  const int self = 0;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_SELF, 1, &self, MPI_UNWEIGHTED, 1, &self,
                                                MPI_UNWEIGHTED, MPI_INFO_NULL, &near));
  int from[] = {7, 8}, to[] = {0, 0};
  int failures = 0;
  for (int code = TONARI_ERR_MEMORY; code != TONARI_SUCCESS; ++failures) {
    ASSERT_LT(failures, 50);
    tonari_request r = TONARI_REQUEST_NULL;
    ASSERT_OK(tonari_alltoall_init(from, 1, MPI_INT, to, 1, MPI_INT, near,
                                   Info{{"tonari_tune", "off"}}, &r));
    fail_allocation(failures + 1);
    code = tonari_start_with(r, from + 1, to + 1);
    fail_allocation(0);
    if (code == TONARI_SUCCESS) {
      EXPECT_OK(tonari_wait(r));
      EXPECT_EQ(to[1], 8);
    } else {
      EXPECT_EQ(code, TONARI_ERR_MEMORY) << tonari_last_error();
      EXPECT_EQ(tonari_start(r), TONARI_ERR_MEMORY);
    }
    EXPECT_OK(tonari_request_free(&r));
  }
  EXPECT_GT(failures, 1);
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// A view of a block shows it in the buffer of the last start.
TEST_F(StartWithErrors, ViewsFollow) {
  tonari_request r = request(Info{{"tonari_tune", "off"}});
  EXPECT_OK(tonari_start_with(r, memory + 4, memory + 6));
  EXPECT_OK(tonari_wait(r));
  const void* at = nullptr;
  EXPECT_OK(tonari_request_recv_view(r, 1, &at, nullptr));
  EXPECT_EQ(at, memory + 7);
  EXPECT_OK(tonari_request_free(&r));
}

}  // namespace
