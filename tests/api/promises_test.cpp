// SPDX-License-Identifier: BSD-3-Clause
// The info keys of Hoefler 2012, §II: kept promises deliver, broken ones are errors, and nobody
// hangs.
#include "support/one_shot.hpp"
#include "support/weighted_ring.hpp"

namespace {

using namespace tonari::test;

// ---- cdag_exact_byte_communications

class ExactSizes : public testing::Test {
 protected:
  void TearDown() override { tonari_neighborhood_free(&near); }
  // From the first source, to the first target.
  int one_edge(const int* in, const int* out, MPI_Info info) {
    const int source = ring.source(0), target = ring.target(0);
    return tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, 1, &source, in, 1, &target, out,
                                               info, &near);
  }
  WeightedRing ring;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  Info exact{{"cdag_exact_byte_communications", "true"}, {"tonari_tune", "model"}};
};

TEST_F(ExactSizes, AlltoallsDeliver) {
  for (const char* algorithm : {"auto", "linear", "coloring", "tree"}) {
    const Info info{{"cdag_exact_byte_communications", "true"},
                    {"tonari_tune", "model"},
                    {"tonari_algorithm", algorithm}};
    near = ring.make(info);
    auto d = ring.data(0);
    for (int round = 0; round < 2; ++round) {
      ring.fill(d, round);
      EXPECT_OK(alltoallv(d, near));
      ring.expect(d, round);
    }
    tonari_neighborhood_free(&near);
  }
}

// One rank sends to all others, every second block is long. On average they are too long to be
// passed on; planners know that the others are not.
TEST_F(ExactSizes, TreesKnowTheBytesOfEveryEdge) {
  const int ranks = world_size(), rank = world_rank();
  if (ranks < 4) GTEST_SKIP() << "three receivers are the least that are helped";
  const auto bytes = [](int target) { return target % 2 ? 8 : 1 << 20; };
  std::vector<int> targets, counts, displacements;
  int end = 0;
  for (int r = 1; r < ranks && rank == 0; ++r)
    targets.push_back(r), counts.push_back(bytes(r)), displacements.push_back(end), end += bytes(r);
  const int zero = 0, mine = bytes(rank), sources = rank > 0, start = 0;
  ASSERT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, sources, &zero, &mine,
                                                static_cast<int>(targets.size()), targets.data(),
                                                counts.data(),
                                                Info{{"cdag_exact_byte_communications", "true"},
                                                     {"tonari_algorithm", "tree"},
                                                     {"tonari_tune", "model"}},
                                                &near));
  std::vector<char> out(static_cast<std::size_t>(end)), in(static_cast<std::size_t>(mine), '?');
  for (std::size_t t = 0; t < targets.size(); ++t)
    std::fill_n(out.begin() + displacements[t], counts[t], static_cast<char>('a' + targets[t]));
  const std::vector<MPI_Aint> places(displacements.begin(), displacements.end());
  const MPI_Aint from = start;
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_alltoallv_init(out.data(), counts.data(), places.data(), MPI_CHAR, in.data(),
                                  &mine, &from, MPI_CHAR, near, MPI_INFO_NULL, &request));
  EXPECT_EQ(std::string(tonari_request_describe(request)).find("blocks are so large"),
            std::string::npos)
      << tonari_request_describe(request);
  EXPECT_OK(tonari_start(request));
  EXPECT_OK(tonari_wait(request));
  if (rank > 0) {
    EXPECT_EQ(in, std::vector<char>(in.size(), static_cast<char>('a' + rank)));
  }
  EXPECT_OK(tonari_request_free(&request));
}

TEST_F(ExactSizes, AllgathersDeliver) {
  ring.same_from_one_rank = true;
  near = ring.make(exact);
  auto d = ring.data(3);
  EXPECT_OK(allgatherv(d, near));
  ring.expect(d, 3, true);
}

TEST_F(ExactSizes, AnAllgatherOverEdgesOfDifferentSizes) {
  near = ring.make(exact);
  auto d = ring.data(0);
  EXPECT_EQ(allgatherv(d, near), TONARI_ERR_PROMISE);
  EXPECT_SAID("promises");
}

TEST_F(ExactSizes, OtherSizesAreAnErrorOnAllRanks) {
  near = ring.make(exact);
  auto d = ring.data(0);
  const int liar = ring.ranks - 1, count = d.out_counts[1];
  if (ring.rank == liar) d.out_counts[1] = count + 1;
  EXPECT_EQ(alltoallv(d, near), TONARI_ERR_PROMISE);
  const std::string expected = "send block 1 of rank " + std::to_string(liar) + " has " +
                               std::to_string(4 * ring.count(liar, 1) + 4) + " bytes, but " +
                               "cdag_exact_byte_communications promises " +
                               std::to_string(4 * ring.count(liar, 1));
  EXPECT_SAID(expected);
  tonari_request request = TONARI_REQUEST_NULL;
  EXPECT_EQ(alltoallv_init(d, near, MPI_INFO_NULL, &request), TONARI_ERR_PROMISE);
  EXPECT_EQ(request, TONARI_REQUEST_NULL);
  EXPECT_STREQ(tonari_error_string(TONARI_ERR_PROMISE), "broken promise");
  d.out_counts[1] = count;
  EXPECT_OK(alltoallv(d, near));  // nothing has happened
  ring.expect(d, 0);
}

TEST_F(ExactSizes, WeightsThatDifferAtTheTwoEnds) {
  const int in[] = {8}, out[] = {ring.rank == 0 ? 12 : 8};
  EXPECT_EQ(one_edge(in, out, exact), TONARI_ERR_MISMATCH);
  EXPECT_EQ(near, TONARI_NEIGHBORHOOD_NULL);
  const std::string to = std::to_string(1 % ring.ranks);
  EXPECT_SAID("rank 0 sends 12 bytes (send block 0) to rank " + to + ", but rank " + to +
              " expects 8 bytes");
  // without the key nobody looks at them
  EXPECT_OK(one_edge(in, out, MPI_INFO_NULL));
}

TEST_F(ExactSizes, NegativeWeightsAndNone) {
  const int in[] = {8}, out[] = {ring.rank == 0 ? -1 : 8};
  EXPECT_EQ(one_edge(in, out, exact), TONARI_ERR_ARGUMENT);
  EXPECT_SAID("weight of destination 0 of rank 0 is -1");
  for (const int* none : {static_cast<const int*>(MPI_UNWEIGHTED), static_cast<const int*>(nullptr),
                          static_cast<const int*>(MPI_WEIGHTS_EMPTY)}) {
    EXPECT_EQ(one_edge(in, ring.rank == 0 ? none : in, exact), TONARI_ERR_ARGUMENT);
    EXPECT_SAID("rank 0 gives no weights");
  }
  EXPECT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, 0, nullptr, MPI_UNWEIGHTED, 0,
                                                nullptr, MPI_WEIGHTS_EMPTY, exact, &near));
}

TEST_F(ExactSizes, WeightsOfADistributedGraph) {
  int sources[] = {ring.source(0)}, targets[] = {ring.target(0)}, in[] = {4 * (1 + ring.source(0))},
      out[] = {4 * (1 + ring.rank)};
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, in, 1, targets, out, MPI_INFO_NULL, 0,
                                 &graph);
  ASSERT_OK(tonari_neighborhood_create_from_comm(graph, exact, &near));
  MPI_Comm_free(&graph);
  std::vector<int> mine(64, ring.rank), theirs(64, -1);
  EXPECT_OK(tonari_allgather(mine.data(), 1 + ring.rank, MPI_INT, theirs.data(), 1 + ring.source(0),
                             MPI_INT, near));
  for (int k = 0; k < 64; ++k) EXPECT_EQ(theirs[k], k <= ring.source(0) ? ring.source(0) : -1);
}

// The edges of a torus in another order than that of the offsets that are recognized.
TEST_F(ExactSizes, OfAGraphThatIsIsomorphic) {
  Topology line = torus_of_all(1);
  MPI_Comm cart = make_cart(line);
  int up = (ring.rank + 1) % ring.ranks, down = (ring.rank + ring.ranks - 1) % ring.ranks;
  // 4 bytes go up, 8 go down
  int sources[] = {up, down}, targets[] = {up, down}, in[] = {8, 4}, out[] = {4, 8};
  // both from one rank: in the order in which they were sent
  if (ring.ranks < 3) in[0] = 4, in[1] = 8;
  ASSERT_OK(
      tonari_neighborhood_create_adjacent(cart, 2, sources, in, 2, targets, out, exact, &near));
  MPI_Comm_free(&cart);
  int values[] = {10 * ring.rank, 10 * ring.rank + 1, 10 * ring.rank + 2},
      got[4] = {-1, -1, -1, -1};
  const int counts_out[] = {1, 2}, counts_in[] = {in[0] / 4, in[1] / 4};
  const MPI_Aint places[] = {0, 1}, places_in[] = {0, 2};
  EXPECT_OK(tonari_alltoallv(values, counts_out, places, MPI_INT, got, counts_in, places_in,
                             MPI_INT, near));
  if (ring.ranks >= 3) {
    const std::vector<int> expected{10 * up + 1, 10 * up + 2, 10 * down, -1};
    EXPECT_EQ(std::vector<int>(got, got + 4), expected);
    const int wrong[] = {ring.rank == 1 ? 2 : 1, 2};
    const bool hears = ring.rank == 1 || exchanges_with(near, 1);
    EXPECT_EQ(
        tonari_alltoallv(values, wrong, places, MPI_INT, got, counts_in, places_in, MPI_INT, near),
        hears ? TONARI_ERR_PROMISE : TONARI_SUCCESS);
    const std::string words = hears ? tonari_last_error() : "";
    EXPECT_TRUE(!hears || words.find("send block 0 of rank 1 has 8 bytes") != std::string::npos)
        << words;
  }
}

TEST_F(ExactSizes, NeighborhoodsWithoutWeights) {
  Topology t = torus_of_all(1);
  MPI_Comm cart = make_cart(t);
  const int offsets[] = {1, -1};
  EXPECT_EQ(tonari_neighborhood_create_cart(cart, 2, offsets, exact, &near), TONARI_ERR_ARGUMENT);
  EXPECT_SAID("gives no weights");
  EXPECT_EQ(tonari_neighborhood_create_from_comm(cart, exact, &near), TONARI_ERR_ARGUMENT);
  MPI_Comm_free(&cart);
}

// ---- cdag_static_buffers

class StaticBuffers : public testing::Test {
 protected:
  void SetUp() override { near = ring.make(fixed); }
  void TearDown() override { tonari_neighborhood_free(&near); }
  WeightedRing ring;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  Info fixed{{"cdag_static_buffers", "true"}, {"tonari_tune", "model"}};
};

TEST_F(StaticBuffers, OneShotCallsDeliver) {
  auto d = ring.data(0);
  for (int round = 0; round < 3; ++round) {
    ring.fill(d, round);
    EXPECT_OK(alltoallv(d, near));
    ring.expect(d, round);
    ring.fill(d, round + 10);
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(ialltoallv(d, near, &request));
    EXPECT_OK(tonari_wait(request));
    ring.expect(d, round + 10);
    EXPECT_OK(tonari_request_free(&request));
  }
}

TEST_F(StaticBuffers, InitBindsToo) {
  auto d = ring.data(0);
  tonari_request request = TONARI_REQUEST_NULL, again = TONARI_REQUEST_NULL;
  ASSERT_OK(alltoallv_init(d, near, MPI_INFO_NULL, &request));
  EXPECT_OK(alltoallv(d, near));
  ring.expect(d, 0);
  ring.fill(d, 1);
  EXPECT_OK(start_and_wait(request));
  ring.expect(d, 1);
  EXPECT_OK(alltoallv_init(d, near, MPI_INFO_NULL, &again));
  EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_request_free(&again));
  EXPECT_OK(alltoallv(d, near));

  auto other = ring.data(0);
  EXPECT_EQ(alltoallv_init(ring.rank == 0 ? other : d, near, MPI_INFO_NULL, &request),
            TONARI_ERR_PROMISE);
  EXPECT_SAID("rank 0 gives alltoallv other buffers");
  EXPECT_EQ(request, TONARI_REQUEST_NULL);
}

// It takes part with the buffers that it promised; the others see nothing of it.
TEST_F(StaticBuffers, OneRankBreaksItsPromise) {
  auto d = ring.data(0), other = ring.data(5);
  EXPECT_OK(alltoallv(d, near));
  const int liar = ring.ranks / 2;
  for (int round = 1; round < 4; ++round) {
    ring.fill(d, round);
    const std::vector<int> untouched = other.in;
    tonari_request request = TONARI_REQUEST_NULL;
    const bool lies = ring.rank == liar;
    const int code = round == 2 ? ialltoallv(lies ? other : d, near, &request)
                                : alltoallv(lies ? other : d, near);
    EXPECT_EQ(code, lies ? TONARI_ERR_PROMISE : TONARI_SUCCESS) << tonari_last_error();
    if (lies) {
      EXPECT_SAID("cdag_static_buffers");
      EXPECT_EQ(request, TONARI_REQUEST_NULL);
    }
    EXPECT_OK(tonari_wait(request));
    EXPECT_OK(tonari_request_free(&request));
    ring.expect(d, round);
    EXPECT_EQ(other.in, untouched);
  }
}

TEST_F(StaticBuffers, OtherCountsBreakIt) {
  auto d = ring.data(0);
  EXPECT_OK(alltoallv(d, near));
  ring.fill(d, 1);
  d.out_counts[0] += 1;
  EXPECT_EQ(alltoallv(d, near), TONARI_ERR_PROMISE);
  ring.expect(d, 1);
  d.out_counts[0] = -3;
  EXPECT_EQ(alltoallv(d, near), TONARI_ERR_ARGUMENT);  // cannot even be read
}

// The same layout under another handle is the same; another layout under the same handle is not.
TEST_F(StaticBuffers, DatatypesMadeAnew) {
  std::vector<int> out(24), in(24, -1), ones(3, 1);
  const std::vector<MPI_Aint> places{0, 16, 32};
  for (int i = 0; i < 24; ++i) out[i] = 100 * ring.rank + i;
  const auto with_stride = [&](int stride) {
    MPI_Datatype type;
    MPI_Type_vector(2, 1, stride, MPI_INT, &type);
    MPI_Type_commit(&type);
    const std::vector<MPI_Datatype> types(3, type);
    const int code = tonari_alltoallw(out.data(), ones.data(), places.data(), types.data(),
                                      in.data(), ones.data(), places.data(), types.data(), near);
    MPI_Type_free(&type);
    return code;
  };
  EXPECT_OK(with_stride(3));
  EXPECT_OK(with_stride(3));
  EXPECT_EQ(with_stride(2), TONARI_ERR_PROMISE);
  EXPECT_OK(with_stride(3));
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 4; ++k)
      EXPECT_EQ(in[4 * i + k], k == 0 || k == 3 ? 100 * ring.source(i) + 4 * i + k : -1);
}

TEST_F(StaticBuffers, CalledAgainWhileInFlight) {
  auto d = ring.data(0);
  for (int round = 0; round < 2; ++round) {
    ring.fill(d, round);
    tonari_request first = TONARI_REQUEST_NULL, second = TONARI_REQUEST_NULL;
    ASSERT_OK(ialltoallv(d, near, &first));
    if (ring.rank == 0) {
      EXPECT_OK(tonari_wait(first));  // this rank does nothing wrong
    }
    EXPECT_EQ(ialltoallv(d, near, &second), ring.rank == 0 ? TONARI_SUCCESS : TONARI_ERR_ACTIVE);
    EXPECT_OK(tonari_wait(second));
    EXPECT_OK(tonari_wait(first));
    ring.expect(d, round);
    EXPECT_OK(tonari_request_free(&first));
    EXPECT_OK(tonari_request_free(&second));
  }
}

TEST_F(StaticBuffers, EachOperationHasItsOwn) {
  ring.same_from_one_rank = true;
  auto d = ring.data(0), e = ring.data(4);
  for (int round = 0; round < 2; ++round) {
    EXPECT_OK(alltoallv(d, near));
    EXPECT_OK(allgatherv(e, near));
    ring.expect(d, 0);
    ring.expect(e, 4, true);
  }
}

// ---- cdag_strict_communication

class Strict : public testing::Test {
 protected:
  void SetUp() override {
    t = torus_of_all(2);
    cart = make_cart(t);
  }
  void TearDown() override { MPI_Comm_free(&cart); }
  // The code of an init by the algorithm; what was chosen if it is auto.
  int try_algorithm(const std::string& algorithm, const char* tune = "model") {
    const Info info{{"cdag_strict_communication", "true"},
                    {"tonari_algorithm", algorithm},
                    {"tonari_tune", tune}};
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    EXPECT_OK(tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), info, &near));
    Buffers b = random_buffers(Operation::alltoall, t.count(), 8, 2);
    tonari_request request = TONARI_REQUEST_NULL;
    const int code = init(b.op, b.out, b.in, near, MPI_INFO_NULL, &request);
    if (code == TONARI_SUCCESS) {
      tonari_request_info about;
      EXPECT_OK(tonari_request_get_info(request, &about));
      chosen = about.algorithm;
      b.prepare(world_rank(), 0);
      EXPECT_OK(start_and_wait(request));
      EXPECT_EQ(b.wrong(t, world_rank(), 0), "");
      EXPECT_OK(tonari_request_free(&request));
    }
    EXPECT_OK(tonari_neighborhood_free(&near));
    return code;
  }
  Topology t;
  MPI_Comm cart = MPI_COMM_NULL;
  std::string chosen;
};

TEST_F(Strict, SidesOfASquareAreNeighbors) {
  t.offsets = box(2, -1, 1);
  for (const char* algorithm : {"torus", "torus-direct", "linear", "irecv", "auto"})
    EXPECT_EQ(try_algorithm(algorithm), TONARI_SUCCESS) << algorithm << tonari_last_error();
  EXPECT_OK(try_algorithm("auto", "off"));
  EXPECT_EQ(chosen, "torus-direct");
}

// Torus goes to +2 in two steps of +1, which is no neighbor.
TEST_F(Strict, ForwardingOverOthersIsRefused) {
  t.dims = {1, world_size()};
  t.offsets = {0, 2, 0, -2};
  MPI_Comm_free(&cart);
  cart = make_cart(t);
  if (world_size() < 5) GTEST_SKIP() << "the steps of smaller rings are neighbors";
  EXPECT_EQ(try_algorithm("torus"), TONARI_ERR_ALGORITHM);
  EXPECT_SAID("no neighbors, which cdag_strict_communication rules out");
  for (const char* algorithm : {"linear", "irecv", "auto"}) EXPECT_OK(try_algorithm(algorithm));
  EXPECT_OK(try_algorithm("auto", "off"));
}

// Rank 0 sends to all; the first rank of a node hands its block on to the others there, which the
// graph has no edges for.
TEST_F(Strict, GraphsAreFilteredToo) {
  if (world_size() < 3) GTEST_SKIP() << "for nodes of two ranks";
  const EmulatedNodes nodes("1,2");
  const int ranks = world_size(), rank = world_rank();
  const int zero[] = {0}, mine = 10 + rank;
  std::vector<int> others(static_cast<std::size_t>(ranks) - 1);
  std::iota(others.begin(), others.end(), 1);
  for (const bool strict : {false, true}) {
    const Info info{{"cdag_strict_communication", strict ? "true" : "false"},
                    {"tonari_algorithm", "node-aware"},
                    {"tonari_tune", "off"}};
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    ASSERT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, rank > 0, zero, MPI_UNWEIGHTED,
                                                  rank > 0 ? 0 : ranks - 1, others.data(),
                                                  MPI_UNWEIGHTED, info, &near));
    int got = -1;
    EXPECT_EQ(tonari_allgather(&mine, 1, MPI_INT, &got, 1, MPI_INT, near),
              strict ? TONARI_ERR_ALGORITHM : TONARI_SUCCESS)
        << tonari_last_error();
    EXPECT_EQ(got, strict || rank == 0 ? -1 : 10);
    if (strict) {
      EXPECT_SAID("no neighbors, which cdag_strict_communication rules out");
    }
    tonari_neighborhood_free(&near);
  }
}

// ---- All of them

class PromiseErrors : public testing::Test {};

TEST_F(PromiseErrors, OtherValuesAndRanksThatDisagree) {
  WeightedRing ring;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  for (const char* key :
       {"cdag_strict_communication", "cdag_exact_byte_communications", "cdag_static_buffers"}) {
    int code = 0;
    const Info odd{{key, "yes"}}, yes{{key, "true"}}, no{{key, "false"}};
    near = ring.make(odd, &code);
    EXPECT_EQ(code, TONARI_ERR_ARGUMENT);
    EXPECT_SAID(std::string(key) + " is 'yes'; it must be true or false");
    if (ring.ranks < 2) continue;
    near = ring.make(ring.rank == 0 ? yes : no, &code);
    EXPECT_EQ(code, TONARI_ERR_MISMATCH) << key;
    EXPECT_EQ(near, TONARI_NEIGHBORHOOD_NULL);
  }
}

TEST_F(PromiseErrors, AllThreeKept) {
  WeightedRing ring;
  const Info all{{"cdag_strict_communication", "true"},
                 {"cdag_exact_byte_communications", "true"},
                 {"cdag_static_buffers", "true"},
                 {"tonari_tune", "model"}};
  tonari_neighborhood near = ring.make(all);
  auto d = ring.data(0);
  for (int round = 0; round < 3; ++round) {
    ring.fill(d, round);
    EXPECT_OK(alltoallv(d, near));
    ring.expect(d, round);
  }
  EXPECT_OK(tonari_neighborhood_free(&near));
}

}  // namespace
