// SPDX-License-Identifier: BSD-3-Clause
// Receive views: what they show is what the blocks would hold, and it stays until the next start,
// whatever other ranks do meanwhile.
#include <chrono>
#include <thread>

#include "support/views.hpp"

namespace {

using namespace tonari::test;

class RecvViews : public GraphExchange {
 protected:
  static void nap(Random& own) {
    if (pick(own, 0, 3) == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(pick(own, 0, 400)));
  }

  // Rounds in which ranks dawdle between looking and starting, each at other times.
  static void exchange_and_look(Viewed& c, int rounds, Random& own) {
    std::vector<Seen> before;
    for (int k = 0; k < rounds; ++k, ++c.round) {
      nap(own);
      expect_unchanged(before);
      c.b.prepare(c.rank, c.round);
      ASSERT_OK(tonari_start(c.request));
      ASSERT_OK(complete(c.request, k % 2));
      before = look(c);
    }
    nap(own);
    expect_unchanged(before);
  }

  // Returns false where the algorithm does not apply.
  static bool open(Viewed& c, tonari_neighborhood near, const std::string& algorithm,
                   const std::string& progress = "calls", const std::string& channel = "shared") {
    const Info info{{"tonari_algorithm", algorithm},
                    {"tonari_channel", channel},
                    {"tonari_recv_view", "yes"},
                    {"tonari_tune", "off"},
                    {"tonari_progress", progress}};
    const int code = init(c.b.op, c.b.out, c.b.in, near, info, &c.request);
    c.b.out.free_types(), c.b.in.free_types();
    EXPECT_TRUE(code == TONARI_SUCCESS || code == TONARI_ERR_ALGORITHM) << tonari_last_error();
    return code == TONARI_SUCCESS;
  }

  // The neighbors that exist, with sources in an order of each rank's own.
  static Graph lists_of(const Topology& line, Random& common) {
    Graph graph{std::vector<Lists>(static_cast<std::size_t>(world_size())), "line"};
    for (int r = 0; r < world_size(); ++r) {
      for (int i = 0; i < line.count(); ++i) {
        if (const int target = line.target(r, i); target >= 0)
          graph.of[r].targets.push_back(target);
        if (const int source = line.source(r, i); source >= 0)
          graph.of[r].sources.push_back(source);
      }
      std::shuffle(graph.of[r].sources.begin(), graph.of[r].sources.end(), common);
    }
    find_origins(graph);
    return graph;
  }

  tonari_neighborhood neighborhood(const Graph& graph) {
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    EXPECT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[world_rank()], MPI_INFO_NULL, &near));
    return near;
  }

  int on_random_graph(std::uint32_t seed, std::span<const char* const> algorithms, int rounds) {
    Random common(seed), own(seed * 17 + static_cast<unsigned>(world_rank()));
    const Split& split = splits[pick(common, 0, static_cast<int>(std::size(splits)) - 1)];
    Nodes::set(split.text);
    const Graph graph = random_graph(common, world_size());
    const tonari_neighborhood near = neighborhood(graph);
    int views = 0;
    for (int k = 0; k < 6; ++k) {
      const auto op = all_operations[pick(common, 0, 5)];
      const Sizes sizes = random_sizes(common, op, true);
      const std::string algorithm = algorithms[static_cast<std::size_t>(
          pick(common, 0, static_cast<int>(algorithms.size()) - 1))];
      SCOPED_TRACE("seed " + std::to_string(seed) + ", nodes " + split.text + ", " + graph.name +
                   ", " + name(op) + " by " + algorithm);
      Random random(common() + 977u * static_cast<unsigned>(world_rank()));
      Viewed c{graph, make_buffers(random, graph, world_rank(), op, sizes)};
      if (!open(c, near, algorithm, pick(common, 0, 5) == 0 && threads() ? "thread" : "calls"))
        continue;
      exchange_and_look(c, rounds, own);
      views += c.views;
      EXPECT_OK(tonari_request_free(&c.request));
    }
    EXPECT_OK(tonari_neighborhood_free(const_cast<tonari_neighborhood*>(&near)));
    return views;
  }

  static bool threads() {
    int level = 0;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE && !ranks_are_slow();
  }
};

constexpr const char* every_algorithm[] = {
    "linear", "coloring", "tree", "node-aware", "common-neighborhood", "irecv", "auto", "native"};

TEST_F(RecvViews, ShowWhatTheBlocksWouldHold) {
  int views = 0;
  const int n = cases(60);
  for (int k = 0; k < n; ++k)
    views += on_random_graph(
        31u * static_cast<unsigned>(world_size()) + 7919u * static_cast<unsigned>(k),
        std::span(every_algorithm).first(mpi_spins() ? 7 : 8), 4);
  if (n >= 10 && world_size() > 1) {
    EXPECT_GT(views, 0);
  }
}

// Blocks that pass through a rank to others: what is sent on must be what arrived, which is not in
// the receive buffer.
TEST_F(RecvViews, ArePassedOnFromWhereTheyLie) {
  Topology line = torus_of_all(1);
  for (int reach : {2, 3}) {
    line.offsets = box(1, -reach, reach);
    line.offsets.push_back(2), line.offsets.push_back(0);
    Graph graph{std::vector<Lists>(static_cast<std::size_t>(world_size())), "line"};
    for (int r = 0; r < world_size(); ++r)
      for (int i = 0; i < line.count(); ++i) {
        graph.of[r].targets.push_back(line.target(r, i));
        graph.of[r].sources.push_back(line.source(r, i));
        graph.of[r].origins.push_back(i);
      }
    for (const char* split : {"", "2,1"}) {
      Nodes::set(split);
      MPI_Comm cart = make_cart(line);
      tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
      ASSERT_OK(tonari_neighborhood_create_cart(cart, line.count(), line.offsets.data(),
                                                MPI_INFO_NULL, &near));
      MPI_Comm_free(&cart);
      Random own(static_cast<unsigned>(world_rank()) + 5);
      for (const char* algorithm : {"torus", "torus-direct", "linear"})
        for (Operation op : {Operation::allgather, Operation::alltoall, Operation::allgatherw})
          for (int bytes : {8, 200, 3000}) {
            if (mpi_spins() && ranks_are_slow() && bytes != 200) continue;
            SCOPED_TRACE(std::string(algorithm) + ", " + name(op) + " of " + std::to_string(bytes) +
                         " on nodes " + split);
            Random random(9);
            const Sizes sizes{4, bytes / 4, true, false, 1};
            Viewed c{graph, make_buffers(random, graph, world_rank(), op, sizes)};
            if (open(c, near, algorithm)) exchange_and_look(c, 4, own);
            EXPECT_OK(tonari_request_free(&c.request));
          }
      EXPECT_OK(tonari_neighborhood_free(&near));
    }
  }
}

// On the node contiguous blocks are seen where they arrived; own ones, those of other nodes and
// those with holes are in the buffer.
TEST_F(RecvViews, AreOfBlocksThatCameThroughSharedMemory) {
  Edges edges = all_pairs(world_size());
  for (int r = 0; r < world_size(); ++r) edges.emplace_back(r, r);
  const Graph graph = make_graph(world_size(), edges);
  for (const char* split : {"", "2", "1"}) {
    Nodes::set(split);
    tonari_neighborhood near = neighborhood(graph);
    int node = 0;
    for (int r = 0; r < world_size(); ++r)
      node += r != world_rank() && (!*split || (*split == '2' && r / 2 == world_rank() / 2));
    Random random(3), own(static_cast<unsigned>(world_rank()));
    for (const Style style : {Style::plain, Style::resized, Style::vector})
      for (const char* channel : {"shared", "p2p-packed"}) {
        SCOPED_TRACE(std::string("style ") + std::to_string(static_cast<int>(style)) + " over " +
                     channel + " on nodes " + split);
        const int bytes = style == Style::resized ? 16 : 40,
                  count = static_cast<int>(graph.of[world_rank()].sources.size());
        Viewed c{graph,
                 {Operation::alltoall,
                  regular_side(random, Style::plain, count, bytes),
                  regular_side(random, style, count, bytes),
                  {}}};
        bool spread = false;
        for (const Piece& p : c.b.in.blocks[0])
          spread |= &p != &c.b.in.blocks[0][0] &&
                    p.at != (&p)[-1].at + static_cast<std::ptrdiff_t>((&p)[-1].length);
        const bool opened = open(c, near, "linear", "calls", channel);
        ASSERT_TRUE(opened);
        exchange_and_look(c, 3, own);
        EXPECT_EQ(c.views, std::string(channel) == "shared" && !spread ? 3 * node : 0);
        EXPECT_EQ(c.views + c.others, 3 * count);
        EXPECT_OK(tonari_request_free(&c.request));
      }
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
}

// On a grid the library numbers blocks in an order of its own, and those that have no other end,
// too; views count as the program does.
TEST_F(RecvViews, CountBlocksAsTheProgramDoes) {
  if (world_size() < 3) GTEST_SKIP() << "needs three ranks";
  Topology line = torus_of_all(1);
  line.offsets = {2, 1, -1};
  Random common(4), own(static_cast<unsigned>(world_rank()));
  bool torus = false;
  for (int round = 0; round < (ranks_are_slow() ? 2 : 8); ++round) {
    line.periods[0] = round % 2;
    const Graph graph = lists_of(line, common);
    MPI_Comm cart = make_cart(line);
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    ASSERT_OK(create_adjacent(cart, graph.of[world_rank()], MPI_INFO_NULL, &near));
    MPI_Comm_free(&cart);
    for (const char* algorithm : {"torus", "linear"})
      for (Operation op : {Operation::alltoall, Operation::alltoallv, Operation::allgather}) {
        SCOPED_TRACE(std::string(algorithm) + ", " + name(op));
        Random random(8);
        Viewed c{graph, make_buffers(random, graph, world_rank(), op,
                                     {4, 6, form(op) == 0, form(op) != 0, 2})};
        if (!open(c, near, algorithm)) continue;
        torus |= std::string(algorithm) == "torus";
        exchange_and_look(c, 3, own);
        EXPECT_OK(tonari_request_free(&c.request));
      }
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
  EXPECT_TRUE(torus);
}

class RecvViewErrors : public RecvViews {};

TEST_F(RecvViewErrors, BeforeTheFirstExchangeWhileActiveAndOutOfRange) {
  const Graph graph = make_graph(world_size(), all_pairs(world_size()));
  tonari_neighborhood near = neighborhood(graph);
  Random random(1);
  Viewed c{graph,
           make_buffers(random, graph, world_rank(), Operation::alltoall, {4, 5, true, false, 1})};
  const bool opened = open(c, near, "linear");
  ASSERT_TRUE(opened);
  const int blocks = static_cast<int>(graph.of[world_rank()].sources.size());
  const void* address = nullptr;
  MPI_Count bytes = 0;
  const auto expect_error = [&](int code, int block, const char* part) {
    EXPECT_EQ(tonari_request_recv_view(c.request, block, &address, &bytes), code) << block;
    EXPECT_SAID(part);
  };
  if (blocks > 0) expect_error(TONARI_ERR_ACTIVE, 0, "complete");
  for (int round = 0; round < 2; ++round) {
    c.b.prepare(world_rank(), 0);
    ASSERT_OK(tonari_start(c.request));
    if (blocks > 0) expect_error(TONARI_ERR_ACTIVE, blocks - 1, "complete");
    ASSERT_OK(tonari_wait(c.request));
    look(c);
    expect_error(TONARI_ERR_ARGUMENT, blocks, std::to_string(blocks).c_str());
    expect_error(TONARI_ERR_ARGUMENT, -1, "-1");
    if (blocks > 0) {
      EXPECT_EQ(tonari_request_recv_view(c.request, 0, &address, nullptr), TONARI_SUCCESS)
          << "who does not ask for the length";
    }
    EXPECT_EQ(tonari_request_recv_view(c.request, 0, nullptr, &bytes), TONARI_ERR_ARGUMENT);
    EXPECT_EQ(tonari_request_recv_view(TONARI_REQUEST_NULL, 0, &address, &bytes),
              TONARI_ERR_ARGUMENT);
  }
  EXPECT_OK(tonari_request_free(&c.request));
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// Nobody could ask a blocking call where its blocks are.
TEST(RecvView, OneShotCallsFillTheReceiveBuffer) {
  MPI_Comm cart = MPI_COMM_NULL;
  int ranks = world_size(), periodic = 1, rank = 0;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &cart);
  MPI_Comm_rank(cart, &rank);
  const int offsets[] = {-1, 1};
  const Info info{
      {"tonari_recv_view", "yes"}, {"tonari_channel", "shared"}, {"tonari_algorithm", "linear"}};
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(tonari_neighborhood_create_cart(cart, 2, offsets, info, &near));
  MPI_Comm_free(&cart);
  const int out[] = {10 * rank, 10 * rank + 1};
  int in[] = {-1, -1};
  ASSERT_OK(tonari_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, near));
  EXPECT_EQ(in[0], 10 * ((rank + 1) % ranks));
  EXPECT_EQ(in[1], 10 * ((rank + ranks - 1) % ranks) + 1);
  EXPECT_OK(tonari_neighborhood_free(&near));
}

}  // namespace
