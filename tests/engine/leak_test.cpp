// SPDX-License-Identifier: BSD-3-Clause
// What is created and freed again and again leaves nothing behind: no datatype, request,
// communicator, or memory.
#include "support/counting.hpp"
#include "support/graph_exchange.hpp"

namespace {

using namespace tonari::test;

class Leaks : public testing::Test {
 protected:
  void SetUp() override {
    t = torus_of_all(1);
    t.offsets = box(1, -2, 2);
    cart = make_cart(t);
    MPI_Comm_rank(cart, &rank);
    Random random(2);
    out = regular_side(random, Style::vector, t.count(), 28),
    in = regular_side(random, Style::resized, t.count(), 28);
  }
  void TearDown() override { MPI_Comm_free(&cart); }

  tonari_neighborhood neighborhood() {
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    EXPECT_OK(
        tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), MPI_INFO_NULL, &near));
    return near;
  }
  void request(tonari_neighborhood near, int k) {
    static const char* const names[] = {"linear", "torus", "irecv", "torus-direct", "joint-basis"};
    const Info info{{"tonari_algorithm", names[k % 5]},
                    {"tonari_channel", channel_names[k / 2 % std::size(channel_names)]},
                    {"tonari_tune", "off"}};
    tonari_request made = TONARI_REQUEST_NULL;
    ASSERT_OK(init(Operation::alltoall, out, in, near, info, &made));
    if (k % 3 == 0) {
      EXPECT_OK(start_and_wait(made));
    }
    EXPECT_OK(tonari_request_free(&made));
  }
  // step(k) some times to warm up and then many times more.
  template <class Step>
  void expect_nothing_left(int many, Step step) {
    for (int k = 0; k < std::min(many, 12); ++k) step(k);
    const Live before = live();
    for (int k = 0; k < many; ++k) step(k);
    const Live after = live();
    EXPECT_EQ(after.datatypes, before.datatypes);
    EXPECT_EQ(after.requests, before.requests);
    EXPECT_EQ(after.communicators, before.communicators);
    EXPECT_LT(after.pieces - before.pieces, 20) << "pieces of memory, after " << many << " times";
  }

  int rank = 0;
  Topology t;
  MPI_Comm cart = MPI_COMM_NULL;
  Side out, in;
};

TEST_F(Leaks, TheCountersCount) {
  const Live before = live();
  void* volatile p = std::malloc(10);
  MPI_Datatype type;
  MPI_Type_contiguous(3, MPI_INT, &type);
  const Live between = live();
  EXPECT_EQ(between.datatypes, before.datatypes + 1);
  EXPECT_EQ(between.pieces, before.pieces + (counts_allocations() ? 1 : 0));
  std::free(p);
  MPI_Type_free(&type);
  EXPECT_EQ(live().datatypes, before.datatypes);
}

TEST_F(Leaks, RequestsMadeAndFreed) {
  tonari_neighborhood near = neighborhood();
  expect_nothing_left(cases(1000), [&](int k) { request(near, k); });
  tonari_neighborhood_free(&near);
}

TEST_F(Leaks, NeighborhoodsMadeAndFreed) {
  // what a communicator keeps, windows among them, is there from now on
  for (int k = 0; k < 10; ++k) {
    tonari_neighborhood near = neighborhood();
    request(near, k);
    tonari_neighborhood_free(&near);
  }
  expect_nothing_left(cases(1000), [&](int k) {
    tonari_neighborhood near = neighborhood();
    if (k % 10 == 0) request(near, k / 10);
    tonari_neighborhood_free(&near);
  });
}

// Errors on the way must not keep anything either.
TEST_F(Leaks, FailedCalls) {
  tonari_neighborhood near = neighborhood();
  expect_nothing_left(cases(200), [&](int k) {
    const Info info{{"tonari_tune", "off"}, {"tonari_algorithm", k % 2 ? "quantum" : "torus"}};
    tonari_request made = TONARI_REQUEST_NULL;
    EXPECT_NE(tonari_alltoall_init(out.buffer(), 4, MPI_INT, out.buffer() + 4, 4, MPI_INT, near,
                                   info, &made),
              TONARI_SUCCESS);
    tonari_neighborhood none = TONARI_NEIGHBORHOOD_NULL;
    EXPECT_NE(tonari_neighborhood_create_cart(cart, -1, nullptr, MPI_INFO_NULL, &none),
              TONARI_SUCCESS);
  });
  tonari_neighborhood_free(&near);
}

TEST_F(Leaks, RequestsThatOutliveTheirNeighborhoodFreeIt) {
  expect_nothing_left(cases(100), [&](int) {
    tonari_neighborhood near = neighborhood();
    const Info info{{"tonari_tune", "off"}, {"tonari_algorithm", "torus"}};
    tonari_request made = TONARI_REQUEST_NULL;
    ASSERT_OK(init(Operation::alltoall, out, in, near, info, &made));
    tonari_neighborhood_free(&near);
    EXPECT_OK(tonari_request_free(&made));
  });
}

// ---- Graphs

class LeaksOfGraphs : public Leaks {
 protected:
  void SetUp() override {
    Leaks::SetUp();
    if (mpi_spins() && world_size() > 3)
      GTEST_SKIP() << "what is left behind does not depend on how many ranks wait for each other";
    rank = world_rank();
    Edges edges = all_pairs(world_size());
    for (int r = 0; r < world_size(); ++r) edges.emplace_back(r, r), edges.emplace_back(r, 0);
    graph = make_graph(world_size(), edges);
    Random random(4);  // sizes differ, so that those of passing blocks have to be learned
    for (Operation op : {Operation::alltoallv, Operation::allgatherw})
      buffers.push_back(make_buffers(random, graph, rank, op, {4, 9, false, true, 5}));
    Nodes::set("1,2");
  }
  tonari_neighborhood graph_neighborhood() {
    tonari_neighborhood made = TONARI_NEIGHBORHOOD_NULL;
    EXPECT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[rank], MPI_INFO_NULL, &made));
    return made;
  }
  void graph_request(tonari_neighborhood made, int k, bool keeps_neighborhood = true) {
    static const char* const names[] = {
        "linear", "coloring", "irecv", "node-aware", "tree", "common-neighborhood", "torus"};
    const Info info{{"tonari_algorithm", names[k % 7]},
                    {"tonari_channel", channel_names[k / 2 % std::size(channel_names)]},
                    {"tonari_tune", "off"}};
    Buffers& b = buffers[k % 3 > 0];
    tonari_request request = TONARI_REQUEST_NULL;
    const int code = init(b.op, b.out, b.in, made, info, &request);
    if (!keeps_neighborhood) {
      EXPECT_OK(tonari_neighborhood_free(&made));
    }
    EXPECT_TRUE(code == TONARI_SUCCESS ||
                (code == TONARI_ERR_ALGORITHM && k % 7 != 0 && k % 7 != 2))
        << tonari_last_error();
    if (code != TONARI_SUCCESS) return;
    b.prepare(rank, k);
    EXPECT_OK(start_and_wait(request));
    EXPECT_EQ(b.wrong(graph, rank, k), "");
    EXPECT_OK(tonari_request_free(&request));
  }

  Graph graph;
  std::vector<Buffers> buffers;
  Nodes nodes;
};

TEST_F(LeaksOfGraphs, RequestsMadeAndFreed) {
  tonari_neighborhood made = graph_neighborhood();
  // plans are kept by the neighborhood: all are made now
  for (int k = 0; k < std::min(21, cases(500)); ++k) graph_request(made, k);
  expect_nothing_left(cases(200), [&](int k) { graph_request(made, k); });
  tonari_neighborhood_free(&made);
}

TEST_F(LeaksOfGraphs, NeighborhoodsMadeAndFreed) {
  expect_nothing_left(cases(100), [&](int k) {
    tonari_neighborhood made = graph_neighborhood();
    if (k % 2 == 0) graph_request(made, k / 2);
    tonari_neighborhood_free(&made);
    tonari_neighborhood_create_from_comm(cart, MPI_INFO_NULL, &made);
    tonari_neighborhood_free(&made);
  });
}

TEST_F(LeaksOfGraphs, FailedCalls) {
  tonari_neighborhood made = graph_neighborhood();
  // Sizes at both ends differ, which is found out by an exchange.
  Random random(4);
  Buffers wrong = make_buffers(random, graph, rank, Operation::alltoallv,
                               {4, 9, false, true, 5 + static_cast<unsigned>(rank)});
  expect_nothing_left(cases(100), [&](int k) {
    Lists lists = graph.of[rank];
    if (k % 2)
      lists.targets[0] = world_size();  // out of range
    else if (rank == 0)
      lists.targets.push_back(world_size() - 1);  // not expected
    tonari_neighborhood none = TONARI_NEIGHBORHOOD_NULL;
    EXPECT_EQ(create_adjacent(MPI_COMM_WORLD, lists, MPI_INFO_NULL, &none),
              k % 2 ? TONARI_ERR_ARGUMENT : TONARI_ERR_MISMATCH);
    EXPECT_EQ(tonari_neighborhood_create_from_comm(MPI_COMM_WORLD, MPI_INFO_NULL, &none),
              TONARI_ERR_TOPOLOGY);
    Nodes::set("none");
    EXPECT_EQ(create_adjacent(MPI_COMM_WORLD, graph.of[rank], MPI_INFO_NULL, &none),
              TONARI_ERR_ARGUMENT);
    Nodes::set("1,2");
    tonari_request request = TONARI_REQUEST_NULL;
    const Info info{{"tonari_tune", "off"}};
    EXPECT_EQ(init(wrong.op, wrong.out, wrong.in, made, info, &request) == TONARI_SUCCESS,
              world_size() == 1);
    EXPECT_OK(tonari_request_free(&request));
  });
  tonari_neighborhood_free(&made);
}

TEST_F(LeaksOfGraphs, RequestsThatOutliveTheirNeighborhoodFreeIt) {
  // every algorithm over every channel: the windows are there from now on
  for (int k = 0; k < 35; ++k) graph_request(graph_neighborhood(), k, false);
  expect_nothing_left(cases(50), [&](int k) { graph_request(graph_neighborhood(), k, false); });
}

}  // namespace
