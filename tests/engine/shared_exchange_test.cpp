// SPDX-License-Identifier: BSD-3-Clause
// Exchanges through shared memory as a program makes them: plans that mix channels, many requests
// at once, what happens from start to wait, and a million starts.

#include <chrono>
#include <thread>

#include "support/counting.hpp"
#include "support/views.hpp"

namespace {

using namespace tonari::test;

Info shared_info(const std::string& algorithm, bool views, const std::string& timeout = "10") {
  return Info{{"tonari_algorithm", algorithm},
              {"tonari_channel", "shared"},
              {"tonari_tune", "off"},
              {"tonari_recv_view", views ? "yes" : "no"},
              {"tonari_timeout", timeout}};
}

Graph graph_of(const Topology& grid) {
  Graph graph{std::vector<Lists>(static_cast<std::size_t>(world_size())), "grid"};
  for (int r = 0; r < world_size(); ++r)
    for (int i = 0; i < grid.count(); ++i) {
      graph.of[r].targets.push_back(grid.target(r, i));
      graph.of[r].sources.push_back(grid.source(r, i));
      graph.of[r].origins.push_back(i);
    }
  return graph;
}

tonari_neighborhood on_grid(const Topology& grid) {
  MPI_Comm cart = make_cart(grid);
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  EXPECT_OK(tonari_neighborhood_create_cart(cart, grid.count(), grid.offsets.data(), MPI_INFO_NULL,
                                            &near));
  MPI_Comm_free(&cart);
  return near;
}

tonari_neighborhood on_graph(const Graph& graph) {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  EXPECT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[world_rank()], MPI_INFO_NULL, &near));
  return near;
}

class SharedExchange : public GraphExchange {
 protected:
  // Exchanges of one request. False where the algorithm does not apply.
  bool run(tonari_neighborhood near, const Graph& graph, Operation op, int bytes,
           const std::string& algorithm, bool views) {
    SCOPED_TRACE(std::string(name(op)) + " of " + std::to_string(bytes) + " bytes by " + algorithm +
                 (views ? " with views" : "") + " on " + graph.name);
    Random random(static_cast<unsigned>(bytes + 977 * world_rank()));
    Viewed c{graph, make_buffers(random, graph, world_rank(), op,
                                 {4, bytes / 4, form(op) == 0 || gathers(op), form(op) != 0, 3})};
    const int code = init(op, c.b.out, c.b.in, near, shared_info(algorithm, views), &c.request);
    c.b.out.free_types(), c.b.in.free_types();
    if (code == TONARI_ERR_ALGORITHM) return false;
    EXPECT_OK(code);
    if (code != TONARI_SUCCESS) return false;
    for (; c.round < 3; ++c.round) {
      c.b.prepare(c.rank, c.round);
      EXPECT_OK(tonari_start(c.request));
      EXPECT_OK(complete(c.request, (c.rank + c.round) % 2));
      if (views)
        look(c);
      else
        EXPECT_EQ(c.b.wrong(graph, c.rank, c.round), "") << "round " << c.round << "\n"
                                                         << tonari_request_describe(c.request);
    }
    EXPECT_OK(tonari_request_free(&c.request));
    ++ran[algorithm];
    return true;
  }

  int turn_ = 0;

  static bool few() { return mpi_spins() && ranks_are_slow(); }
  static int most_bytes() { return few() ? 70'000 : world_size() > 4 ? 300'000 : 1 << 20; }

  // All operations, sizes around what the protocols are chosen by, with and without views. What is
  // passed on has no other way for a megabyte than for the size before. Of long blocks, and of all
  // where ranks are slow, some take their turn, others with each algorithm.
  void run_all(tonari_neighborhood near, const Graph& graph, const char* algorithm) {
    for (const int bytes : {4, 512, 516, 5000, 70'000, 300'000, 1 << 20}) {
      if (bytes > most_bytes()) continue;
      if (bytes == 1 << 20 && std::string(algorithm) != "linear") continue;
      for (Operation op : all_operations) {
        ++turn_;
        if ((few() && turn_ % 7 != 0) || (bytes >= 70'000 && turn_ % 5 != 0)) continue;
        run(near, graph, op, bytes, algorithm, turn_ / 2 % 2);
      }
    }
  }
};

TEST_F(SharedExchange, OnGridsThatSpanNodes) {
  Topology grid = torus_of_all(2);
  grid.offsets = box(2, -1, 1);
  for (int k = 0; k < 2; ++k) grid.offsets.push_back(0);  // to itself, too
  const Graph graph = graph_of(grid);
  for (const char* split : {"", "2,1", "1"}) {
    SCOPED_TRACE(std::string("nodes ") + split);
    Nodes::set(split);
    tonari_neighborhood near = on_grid(grid);
    for (const char* algorithm : {"linear", "torus", "torus-direct", "irecv"})
      run_all(near, graph, algorithm);
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
  for (const char* algorithm : {"linear", "torus", "torus-direct", "irecv"})
    EXPECT_GT(ran[algorithm], 0) << algorithm;
}

TEST_F(SharedExchange, OnGraphsThatSpanNodes) {
  Graph graph = make_graph(world_size(), all_pairs(world_size()));
  graph.name = "complete";
  for (const char* split : {"", "2,1", "1"}) {
    SCOPED_TRACE(std::string("nodes ") + split);
    Nodes::set(split);
    tonari_neighborhood near = on_graph(graph);
    for (const char* algorithm :
         {"linear", "coloring", "tree", "node-aware", "common-neighborhood"})
      run_all(near, graph, algorithm);
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
  EXPECT_GT(ran["linear"], 0);
  if (world_size() > 3 && !few()) {
    EXPECT_GT(ran["coloring"] * ran["node-aware"], 0);
  }
}

TEST_F(SharedExchange, SaysHowManyMessagesGoWhichWay) {
  const Graph graph = make_graph(world_size(), all_pairs(world_size()));
  Nodes::set("2");
  tonari_neighborhood near = on_graph(graph);
  std::vector<int> out(static_cast<std::size_t>(world_size())), in(out.size());
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_alltoall_init(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, near,
                                 shared_info("linear", false), &request));
  const int partner = world_rank() ^ 1, here = partner < world_size(),
            away = world_size() - 1 - here;
  std::string ways;
  if (here) ways = away ? " (1 shared, " + std::to_string(away) + " p2p-packed)" : " (1 shared)";
  const std::string sends = "sends: " + std::to_string(world_size() - 1) + " messages" + ways + ",";
  EXPECT_CONTAINS(tonari_request_describe(request), sends) << sends << "\n"
                                                           << tonari_request_describe(request);
  EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// ---- several at once

class SharedMix : public SharedExchange {
 protected:
  struct Item {
    Graph graph;
    Buffers b;
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    tonari_request request = TONARI_REQUEST_NULL;
  };

  Item make(Random& common) {
    static const char* const texts[] = {"", "2,1", "2"};
    Nodes::set(texts[pick(common, 0, 2)]);
    Item item{random_graph(common, world_size()), {}};
    item.near = on_graph(item.graph);
    const auto op = all_operations[pick(common, 0, 5)];
    const int bytes =
        pick(common, 0, 1) ? 4 * pick(common, 0, 300) : std::min(most_bytes(), 300'000) / 4 * 4;
    Random random(common() + static_cast<unsigned>(world_rank()));
    item.b = make_buffers(random, item.graph, world_rank(), op,
                          {4, bytes / 4, form(op) == 0 || gathers(op), form(op) != 0, 5});
    EXPECT_OK(
        init(op, item.b.out, item.b.in, item.near, shared_info("linear", false), &item.request));
    item.b.out.free_types(), item.b.in.free_types();
    return item;
  }

  static std::vector<std::size_t> shuffled(std::size_t n, Random& random) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    return order;
  }
};

// Every rank waits for them in an order of its own: while it waits for one, the others must go on,
// also where long messages travel in parts.
TEST_F(SharedMix, InAnyOrderOnEveryRank) {
  for (int round = 0; round < (few() ? 1 : 6); ++round) {
    Random common(static_cast<unsigned>(round) + 1),
        own(static_cast<unsigned>(100 * round + world_rank()) + 7);
    std::vector<Item> items;
    for (int k = 0; k < (few() ? 3 : 5); ++k) items.push_back(make(common));
    const bool neighborhoods_first = common() % 2;
    for (int exchange = 0; exchange < 4; ++exchange) {
      for (const std::size_t k : shuffled(items.size(), own)) {
        items[k].b.prepare(world_rank(), exchange);
        EXPECT_OK(tonari_start(items[k].request));
      }
      for (Item& item : items)
        if (exchange == 2 && neighborhoods_first) {
          EXPECT_OK(tonari_neighborhood_free(&item.near));
        }
      for (const std::size_t k : shuffled(items.size(), own)) {
        EXPECT_OK(tonari_wait(items[k].request));
        EXPECT_EQ(items[k].b.wrong(items[k].graph, world_rank(), exchange), "")
            << items[k].graph.name;
      }
    }
    for (const std::size_t k : shuffled(items.size(), own))
      EXPECT_OK(tonari_request_free(&items[k].request));
    for (Item& item : items)
      if (!neighborhoods_first) {
        EXPECT_OK(tonari_neighborhood_free(&item.near));
      }
  }
}

// Who is complete frees its request at once. Others that look for the dead all the time while they
// wait must not take it for one: all that it sent is there.
TEST_F(SharedMix, WhoFreesAtOnceIsNotMissed) {
  const Graph graph = make_graph(world_size(), all_pairs(world_size()));
  tonari_neighborhood near = on_graph(graph);
  Random own(static_cast<unsigned>(world_rank()));
  int failed = 0;
  for (int round = 0; round < cases(1500) && failed == 0; ++round) {
    Random random(1);
    Buffers b{Operation::alltoall,
              regular_side(random, Style::plain, world_size() - 1, 8),
              regular_side(random, Style::plain, world_size() - 1, 8),
              {}};
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(init(b.op, b.out, b.in, near, shared_info("linear", false, "0.000000001"), &request));
    b.prepare(world_rank(), round);
    if (pick(own, 0, 1)) std::this_thread::sleep_for(std::chrono::microseconds(pick(own, 0, 300)));
    EXPECT_OK(tonari_start(request));
    const int code = tonari_wait(request);
    EXPECT_EQ(code, TONARI_SUCCESS) << "round " << round << ": " << tonari_last_error();
    if (code == TONARI_SUCCESS) {
      EXPECT_EQ(b.wrong(graph, world_rank(), round), "");
    }
    EXPECT_OK(tonari_request_free(&request));
    failed = code != TONARI_SUCCESS;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// While one is waited for the others go on; that one of them failed is said by its own wait, not by
// that of the one that is well.
TEST_F(SharedMix, AFailureIsThatOfItsOwnRequest) {
  if (world_size() < 3) GTEST_SKIP() << "needs three ranks";
  const Graph all = make_graph(world_size(), all_pairs(world_size())),
              pair = make_graph(world_size(), {{0, 1}, {1, 0}});
  tonari_neighborhood near_all = on_graph(all), near_pair = on_graph(pair);
  const int n = world_size() - 1, rank = world_rank(), blocks = rank < 2;
  Random random(1);
  Buffers bad{Operation::alltoall,
              regular_side(random, Style::plain, n, 8),
              regular_side(random, Style::plain, n, 8),
              {}};
  Buffers good{Operation::alltoall,
               regular_side(random, Style::plain, blocks, 8),
               regular_side(random, Style::plain, blocks, 8),
               {}};
  tonari_request failing = TONARI_REQUEST_NULL, well = TONARI_REQUEST_NULL,
                 later = TONARI_REQUEST_NULL;
  ASSERT_OK(
      init(bad.op, bad.out, bad.in, near_all, shared_info("linear", false, "0.02"), &failing));
  ASSERT_OK(init(good.op, good.out, good.in, near_pair, shared_info("linear", false), &well));
  bad.prepare(rank, 0), good.prepare(rank, 0);
  if (rank == 2) {
    EXPECT_OK(tonari_request_free(&failing));
  } else
    EXPECT_OK(tonari_start(failing));
  if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_OK(start_and_wait(well));
  EXPECT_EQ(good.wrong(pair, rank, 0), "");
  EXPECT_OK(init(good.op, good.out, good.in, near_pair, shared_info("linear", false), &later));
  if (rank != 2)
    for (int time = 0; time < 2; ++time) {
      EXPECT_EQ(tonari_wait(failing), TONARI_ERR_PEER);
      EXPECT_SAID(" has freed its request");
    }
  for (tonari_request* request : {&failing, &well, &later}) EXPECT_OK(tonari_request_free(request));
  EXPECT_OK(tonari_neighborhood_free(&near_pair));
  EXPECT_OK(tonari_neighborhood_free(&near_all));
}

// ---- from start to wait

class SharedStartToWait : public SharedExchange {
 protected:
  // Counts an exchange after whose start all ranks meet, so that everything that is sent at once is
  // there when it is waited for.
  Counts counted(tonari_request request, bool by_test) {
    int flag = 0, codes = 0;
    arm();
    codes |= tonari_start(request);
    const Counts start = disarm();
    MPI_Barrier(MPI_COMM_WORLD);
    arm();
    while (by_test && !flag) codes |= tonari_test(request, &flag);
    if (!by_test) codes |= tonari_wait(request);
    Counts counts = disarm();
    EXPECT_OK(codes);
    counts.calls += start.calls, counts.allocations += start.allocations,
        counts.collectives += start.collectives;
    counts.setups += start.setups, counts.sends += start.sends;
    return counts;
  }
};

TEST_F(SharedStartToWait, NoCallOfMpiAndNoAllocationOnTheNode) {
  const Graph graph = make_graph(world_size(), all_pairs(world_size()));
  tonari_neighborhood near = on_graph(graph);
  for (const bool views : {false, true})
    for (const int bytes : {8, 5000, 200'000}) {
      SCOPED_TRACE(std::to_string(bytes) + (views ? " with views" : ""));
      Random random(1);
      const int n = world_size() - 1;
      Viewed c{graph,
               {Operation::alltoall,
                regular_side(random, Style::plain, n, bytes),
                regular_side(random, Style::plain, n, bytes),
                {}}};
      ASSERT_OK(init(c.b.op, c.b.out, c.b.in, near, shared_info("linear", views), &c.request));
      for (; c.round < 4; ++c.round) {
        c.b.prepare(c.rank, c.round);
        const Counts counts = counted(c.request, c.round % 2);
        EXPECT_EQ(counts.calls, 0);
        EXPECT_EQ(counts.allocations, 0);
        if (views)
          look(c);
        else
          EXPECT_EQ(c.b.wrong(graph, c.rank, c.round), "");
      }
      tonari_request_info about;
      EXPECT_OK(tonari_request_get_info(c.request, &about));
      EXPECT_EQ(about.messages, n) << "messages through whatever channel";
      EXPECT_STREQ(about.channel, "shared");
      EXPECT_OK(tonari_request_free(&c.request));
    }
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// Where others must be waited for the MPI is looked at now and then, but never to set anything up.
TEST_F(SharedStartToWait, NoAllocationAndNoCollectiveInMixedPlans) {
  Topology grid = torus_of_all(2);
  grid.offsets = box(2, -1, 1);
  const Graph graph = graph_of(grid);
  for (const char* split : {"", "2,1"}) {
    Nodes::set(split);
    tonari_neighborhood near = on_grid(grid);
    for (const char* algorithm : {"linear", "torus", "torus-direct"})
      for (const int bytes : {8, 40'000}) {
        SCOPED_TRACE(std::string(algorithm) + " on nodes " + split);
        if (few() && bytes > 8) continue;
        Random random(1);
        Buffers b{Operation::alltoall,
                  regular_side(random, Style::plain, grid.count(), bytes),
                  regular_side(random, Style::vector, grid.count(), bytes),
                  {}};
        tonari_request request = TONARI_REQUEST_NULL;
        ASSERT_OK(init(b.op, b.out, b.in, near, shared_info(algorithm, false), &request));
        for (int round = 0; round < 3; ++round) {
          b.prepare(world_rank(), round);
          const Counts counts = counted(request, round % 2);
          EXPECT_EQ(counts.allocations, 0);
          EXPECT_EQ(counts.collectives, 0) << counts.first;
          EXPECT_EQ(counts.setups, 0) << counts.first;
          EXPECT_EQ(b.wrong(graph, world_rank(), round), "");
        }
        EXPECT_OK(tonari_request_free(&request));
      }
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
}

// ---- a million starts

class SharedReuse : public SharedExchange {
 protected:
  void SetUp() override {
    if (world_size() != 2) GTEST_SKIP() << "for two ranks";
  }
  void start_often(int starts);
};

void SharedReuse::start_often(int starts) {
  if (std::thread::hardware_concurrency() < 2) starts = 20'000;
  const Graph graph = make_graph(2, all_pairs(2));
  tonari_neighborhood near = on_graph(graph);
  for (const bool views : {false, true}) {
    Random random(1);
    Viewed c{graph,
             {Operation::alltoall,
              regular_side(random, Style::plain, 1, 8),
              regular_side(random, Style::plain, 1, 8),
              {}}};
    ASSERT_OK(init(c.b.op, c.b.out, c.b.in, near, shared_info("linear", views), &c.request));
    int codes = 0;
    for (int k = 0; k < starts / (views ? 10 : 1) && codes == TONARI_SUCCESS; ++k) {
      const bool verified = k % 1000 == 999;
      if (verified) c.b.prepare(c.rank, c.round = k);
      codes |= tonari_start(c.request);
      codes |= tonari_wait(c.request);
      if (!verified) continue;
      if (views)
        look(c);
      else
        ASSERT_EQ(c.b.wrong(graph, c.rank, k), "") << k;
    }
    EXPECT_OK(codes);
    EXPECT_OK(tonari_request_free(&c.request));
  }
  EXPECT_OK(tonari_neighborhood_free(&near));
}

TEST_F(SharedReuse, AHundredThousandStarts) { start_often(100'000); }
TEST_F(SharedReuse, AMillionStarts) { start_often(1'000'000); }

}  // namespace
