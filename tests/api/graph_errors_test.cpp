// SPDX-License-Identifier: BSD-3-Clause
// Bad lists and sizes that do not match on graphs: all ranks get the same code and sentence,
// nothing hangs, and a correct call afterwards works.
#include "support/graph_exchange.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

std::string rank_name(int rank) { return "rank " + std::to_string(rank); }

class GraphErrors : public GraphExchange {
 protected:
  void SetUp() override {
    if (mpi_spins() && world_size() > 3)
      GTEST_SKIP() << "two seconds each where ranks that outnumber the cores spin";
    rank = world_rank(), ranks = world_size(), last = ranks - 1;
    Edges edges;
    for (int r = 0; r < ranks; ++r)
      edges.emplace_back(r, (r + 1) % ranks), edges.emplace_back(r, r), edges.emplace_back(r, last);
    graph = make_graph(ranks, edges);
    graph.name = "ring and to the last";
    mine = graph.of[rank];
  }

  void expect_refused(int expected, std::initializer_list<std::string> words, const Lists& lists,
                      MPI_Comm comm = MPI_COMM_WORLD) {
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    expect_everywhere(create_adjacent(comm, lists, MPI_INFO_NULL, &near), expected, words);
    EXPECT_EQ(near, TONARI_NEIGHBORHOOD_NULL);
    tonari_neighborhood_free(&near);
  }

  tonari_neighborhood good() {
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    EXPECT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[rank], MPI_INFO_NULL, &near));
    return near;
  }

  // Nothing has happened: an exchange works, on this neighborhood or a new one.
  void expect_usable(tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL) {
    Random common(3);
    tonari_neighborhood fresh = near ? near : good();
    exchange(fresh, graph, Operation::alltoallv, {4, 3, false, true, 1}, {"linear", "p2p-packed"},
             Applies::always, common);
    if (!near) tonari_neighborhood_free(&fresh);
  }

  int rank = 0, ranks = 1, last = 0;
  Graph graph;
  Lists mine;
};

// ---- Lists

TEST_F(GraphErrors, ASenderThatIsNotExpected) {
  const int odd = ranks / 2;
  if (rank == odd) mine.targets.push_back(last);
  expect_refused(TONARI_ERR_MISMATCH, {rank_name(odd), rank_name(last), "mirror"}, mine);
  expect_usable();
}

TEST_F(GraphErrors, AReceiverThatWaitsForNobody) {
  const int odd = ranks / 2;
  if (rank == odd) mine.sources.push_back(last);
  expect_refused(TONARI_ERR_MISMATCH, {rank_name(odd), rank_name(last), "mirror"}, mine);
  mine.targets.clear();  // now nobody sends, everybody waits
  expect_refused(TONARI_ERR_MISMATCH, {rank_name(0), "mirror"}, mine);
  expect_usable();
}

TEST_F(GraphErrors, RepeatedMoreOftenAtOneEnd) {
  if (rank == 0) mine.targets.insert(mine.targets.end(), 2, 0);
  expect_refused(TONARI_ERR_MISMATCH, {"rank 0 sends ", " blocks to rank 0", "expects"}, mine);
  expect_usable();
}

TEST_F(GraphErrors, RanksOutOfRange) {
  if (rank == last) mine.targets[1] = ranks;
  expect_refused(TONARI_ERR_ARGUMENT,
                 {"destination 1", rank_name(last), " is " + std::to_string(ranks)}, mine);
  mine = graph.of[rank];
  if (rank == 0) mine.sources[0] = -77;
  expect_refused(TONARI_ERR_ARGUMENT, {"source 0", rank_name(0), "-77"}, mine);
  expect_usable();
}

// create_adjacent of this file turns -1 into MPI_PROC_NULL: here the call is made by hand.
TEST_F(GraphErrors, NegativeDegreesAndNullLists) {
  const int in = static_cast<int>(mine.sources.size()), out = static_cast<int>(mine.targets.size());
  const bool errs = rank == last;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  const auto create = [&](int indegree, const int* sources, int outdegree, const int* targets,
                          tonari_neighborhood* place) {
    return tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, indegree, sources, MPI_UNWEIGHTED,
                                               outdegree, targets, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                               place);
  };
  const int *from = mine.sources.data(), *to = mine.targets.data();
  expect_everywhere(create(errs ? -1 : in, from, out, to, &near), TONARI_ERR_ARGUMENT,
                    {"number of sources", "-1"});
  expect_everywhere(create(in, from, errs ? -3 : out, to, &near), TONARI_ERR_ARGUMENT,
                    {"number of destinations", "-3"});
  expect_everywhere(create(in, errs ? nullptr : from, out, to, &near), TONARI_ERR_ARGUMENT,
                    {"`sources` is NULL"});
  expect_everywhere(create(in, from, out, errs ? nullptr : to, &near), TONARI_ERR_ARGUMENT,
                    {"`destinations` is NULL"});
  expect_everywhere(create(in, from, out, to, errs ? nullptr : &near), TONARI_ERR_ARGUMENT,
                    {"`near` is NULL"});
  EXPECT_EQ(near, TONARI_NEIGHBORHOOD_NULL);
  // no neighbors at all are fine
  ASSERT_OK(create(0, nullptr, 0, nullptr, &near));
  EXPECT_OK(tonari_neighborhood_free(&near));
  EXPECT_EQ(tonari_neighborhood_degrees(near, nullptr, nullptr), TONARI_ERR_ARGUMENT);
  expect_usable();
}

TEST_F(GraphErrors, InfoKeysThatDiffer) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  const Info info{{"tonari_tune", rank == last ? "off" : "model"}};
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  expect_everywhere(create_adjacent(MPI_COMM_WORLD, mine, info, &near), TONARI_ERR_MISMATCH,
                    {"info keys"});
  EXPECT_EQ(near, TONARI_NEIGHBORHOOD_NULL);
  expect_usable();
}

TEST_F(GraphErrors, NodesThatDifferOrMakeNoSense) {
  Nodes::set(rank == last ? "0" : "2");
  expect_refused(TONARI_ERR_ARGUMENT, {"TONARI_NODES", "'0'"}, mine);
  Nodes::set(rank == last ? "3" : "2");
  if (ranks > 1) expect_refused(TONARI_ERR_MISMATCH, {"TONARI_NODES"}, mine);
  Nodes::set("");
  expect_usable();
}

// ---- Communicators

TEST_F(GraphErrors, CommunicatorsWithoutATopology) {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  expect_everywhere(tonari_neighborhood_create_from_comm(MPI_COMM_WORLD, MPI_INFO_NULL, &near),
                    TONARI_ERR_TOPOLOGY, {"no topology", "MPI_Cart_create"});
  expect_everywhere(tonari_neighborhood_create_from_comm(MPI_COMM_NULL, MPI_INFO_NULL, &near),
                    TONARI_ERR_ARGUMENT, {"MPI_COMM_NULL"});
  expect_refused(TONARI_ERR_ARGUMENT, {"MPI_COMM_NULL"}, mine, MPI_COMM_NULL);
  MPI_Comm cart = make_cart(torus_of_all(1));
  expect_everywhere(
      tonari_neighborhood_create_from_comm(cart, MPI_INFO_NULL, rank == last ? nullptr : &near),
      TONARI_ERR_ARGUMENT, {"`near` is NULL"});
  MPI_Comm_free(&cart);
  EXPECT_EQ(near, TONARI_NEIGHBORHOOD_NULL);
  expect_usable();
}

TEST_F(GraphErrors, Intercommunicators) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL;
  const bool low = rank < ranks / 2;
  MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? ranks / 2 : 0, 5, &between);
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  expect_everywhere(tonari_neighborhood_create_from_comm(between, MPI_INFO_NULL, &near),
                    TONARI_ERR_TOPOLOGY, {"intercommunicator"});
  expect_refused(TONARI_ERR_TOPOLOGY, {"intercommunicator"}, mine, between);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  EXPECT_EQ(near, TONARI_NEIGHBORHOOD_NULL);
  expect_usable();
}

// ---- Operations

class GraphOperationErrors : public GraphErrors {
 protected:
  void SetUp() override {
    GraphErrors::SetUp();
    if (IsSkipped()) return;
    near = good();
    for (std::size_t k = 0; k < mine.sources.size(); ++k)
      expected.push_back(2), into.push_back(static_cast<MPI_Aint>(8 * k));
    for (std::size_t k = 0; k < mine.targets.size(); ++k)
      sent.push_back(2), from.push_back(static_cast<MPI_Aint>(8 * k));
    send.assign(8 * sent.size() + 8, 1), recv.assign(8 * expected.size() + 8, 1);
  }
  void TearDown() override { tonari_neighborhood_free(&near); }

  int alltoallv(tonari_request* request) {
    return tonari_alltoallv_init(send.data(), sent.data(), from.data(), MPI_INT, recv.data(),
                                 expected.data(), into.data(), MPI_INT, near, quick, request);
  }

  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  std::vector<int> sent, expected, send, recv;
  std::vector<MPI_Aint> from, into;
  Info quick{{"tonari_tune", "off"}};
};

TEST_F(GraphOperationErrors, SizesThatDifferBetweenEndsNameBothRanksAndSizes) {
  tonari_request request = TONARI_REQUEST_NULL;
  if (rank == last) sent[1] = 5;  // to itself
  expect_everywhere(alltoallv(&request), TONARI_ERR_MISMATCH, {rank_name(last), "20 bytes", "8 "});
  sent[1] = 2;
  if (rank == 0) sent[0] = 1;  // to the next
  expect_everywhere(alltoallv(&request), TONARI_ERR_MISMATCH,
                    {"rank 0", rank_name(1 % ranks), "4 bytes", "8 "});
  sent[0] = 2;
  if (rank == last) expected[0] = 0;
  expect_everywhere(alltoallv(&request), TONARI_ERR_MISMATCH,
                    {"to " + rank_name(last), "8 bytes", "0 "});
  EXPECT_EQ(request, TONARI_REQUEST_NULL);
  expect_usable(near);
}

TEST_F(GraphOperationErrors, AllgatherSizesThatDiffer) {
  tonari_request request = TONARI_REQUEST_NULL;
  const int code = tonari_allgather_init(send.data(), 2, MPI_INT, recv.data(), rank == last ? 3 : 2,
                                         MPI_INT, near, quick, &request);
  expect_everywhere(code, TONARI_ERR_MISMATCH, {"to " + rank_name(last), "8 bytes", "12 "});
  EXPECT_EQ(request, TONARI_REQUEST_NULL);
  expect_usable(near);
}

TEST_F(GraphOperationErrors, NullPlaceOnOneRank) {
  tonari_request request = TONARI_REQUEST_NULL;
  expect_everywhere(alltoallv(rank == last ? nullptr : &request), TONARI_ERR_ARGUMENT,
                    {"`request` is NULL"});
  EXPECT_EQ(request, TONARI_REQUEST_NULL);
  expect_usable(near);
}

TEST_F(GraphOperationErrors, OneCallsAllToAllTheOtherAllGather) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  tonari_request request = TONARI_REQUEST_NULL;
  const int code = rank == 0 ? tonari_allgather_init(send.data(), 2, MPI_INT, recv.data(), 2,
                                                     MPI_INT, near, quick, &request)
                             : alltoallv(&request);
  expect_everywhere(code, TONARI_ERR_MISMATCH, {"all-to-all", "allgather"});
  EXPECT_EQ(request, TONARI_REQUEST_NULL);
  expect_usable(near);
}

// A star whose other ranks send to nobody; the last rank has no neighbor but MPI_PROC_NULL, twice.
// What they give for such blocks is not looked at.
TEST_F(GraphErrors, BlocksWithoutAnEdgeMayLieAnywhere) {
  if (ranks < 3) GTEST_SKIP() << "needs a rank beside an edge";
  Lists star;
  if (rank == 0)
    for (int r = 1; r < last; ++r) star.targets.push_back(r);
  else if (rank < last)
    star.sources = {0};
  else
    star.sources = star.targets = {-1, -1};
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(create_adjacent(MPI_COMM_WORLD, star, MPI_INFO_NULL, &near));
  std::vector<int> out(2 * ranks, 7);
  int memory[2] = {-1, -1};
  for (const auto& [algorithm, tune] :
       {std::pair("linear", "off"), std::pair("native", "off"), std::pair("auto", "measure")}) {
    if (algorithm == std::string("native") && native_loses_blocks()) continue;
    SCOPED_TRACE(algorithm);
    const Info info{{"tonari_algorithm", algorithm}, {"tonari_tune", tune}};
    for (bool gathers : {false, true}) {
      const auto init = gathers ? tonari_allgather_init : tonari_alltoall_init;
      int* const into = rank > 0 && rank < last ? memory : nullptr;
      // the same memory for all blocks would overlap
      for (int* lonely : {static_cast<int*>(nullptr), memory}) {
        memory[0] = memory[1] = -1;
        tonari_request request = TONARI_REQUEST_NULL;
        ASSERT_OK(init(rank == 0      ? out.data()
                       : rank == last ? lonely
                                      : nullptr,
                       2, MPI_INT, rank == last ? lonely : into, 2, MPI_INT, near, info, &request));
        EXPECT_OK(tonari_start(request) | tonari_wait(request));
        for (int element : memory) EXPECT_EQ(element, into ? 7 : -1);
        EXPECT_OK(tonari_request_free(&request));
      }
    }
  }
  EXPECT_OK(tonari_allgather(rank == 0 ? out.data() : nullptr, 2, MPI_INT,
                             rank == last ? nullptr : memory, 2, MPI_INT, near));
  EXPECT_OK(tonari_neighborhood_free(&near));
}

TEST_F(GraphOperationErrors, ReceiveBlocksThatOverlap) {
  tonari_request request = TONARI_REQUEST_NULL;
  if (rank == last) into[1] = into[0] + 1;
  expect_everywhere(alltoallv(&request), TONARI_ERR_BUFFERS,
                    {rank_name(last), "receive block 0", "receive block 1", "overlap"});
  EXPECT_EQ(request, TONARI_REQUEST_NULL);
  expect_usable(near);
}

}  // namespace
