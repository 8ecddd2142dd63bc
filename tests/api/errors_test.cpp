// SPDX-License-Identifier: BSD-3-Clause
// Bad input: all ranks get the same code and sentence, nothing hangs, and a correct call afterwards
// works.
#include <climits>
#include <cstdlib>
#include <functional>

#include "api/errors.hpp"
#include "support/wide_types.hpp"

namespace {

using namespace tonari::test;

// ---- Neighborhoods

class NeighborhoodErrors : public Errors {
 protected:
  // Tries to create one and looks at the error; `bad` must not change.
  void expect_refused(int expected, std::initializer_list<std::string> words, MPI_Comm comm, int s,
                      const int* offsets, MPI_Info info = MPI_INFO_NULL) {
    tonari_neighborhood bad = TONARI_NEIGHBORHOOD_NULL;
    expect_everywhere(tonari_neighborhood_create_cart(comm, s, offsets, info, &bad), expected,
                      words);
    EXPECT_EQ(bad, TONARI_NEIGHBORHOOD_NULL);
  }
};

TEST_F(NeighborhoodErrors, ListsThatDifferNameTheLowestRankAndTheOffset) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  std::vector<int> mine = t.offsets;
  const int odd = ranks / 2;  // this one and all above differ
  if (rank >= odd) mine[5] = 7;
  expect_refused(TONARI_ERR_MISMATCH, {"rank " + std::to_string(odd), "offset 2", "(1,7)", "(1,0)"},
                 cart, 4, mine.data());
  expect_usable();
}

TEST_F(NeighborhoodErrors, ListsOfDifferentLength) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  expect_refused(TONARI_ERR_MISMATCH, {"rank " + std::to_string(last), "3", "4"}, cart,
                 rank == last ? 3 : 4, t.offsets.data());
  expect_refused(TONARI_ERR_MISMATCH, {"rank 1", "4", "0"}, cart, rank == 0 ? 0 : 4,
                 t.offsets.data());
  expect_usable();
}

TEST_F(NeighborhoodErrors, NotCartesian) {
  expect_refused(TONARI_ERR_TOPOLOGY, {"no Cartesian topology"}, MPI_COMM_WORLD, 4,
                 t.offsets.data());
  MPI_Comm graph;
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  expect_refused(TONARI_ERR_TOPOLOGY, {"no Cartesian topology"}, graph, 4, t.offsets.data());
  MPI_Comm_free(&graph);
  expect_usable();
}

TEST_F(NeighborhoodErrors, TooManyDimensions) {
  int sizes[9] = {ranks, 1, 1, 1, 1, 1, 1, 1, 1}, periods[9] = {};
  MPI_Comm nine, eight;
  MPI_Cart_create(MPI_COMM_WORLD, 9, sizes, periods, 0, &nine);
  MPI_Cart_create(MPI_COMM_WORLD, 8, sizes, periods, 0, &eight);
  const int zero[9] = {};
  expect_refused(TONARI_ERR_TOPOLOGY, {"9", "8"}, nine, 1, zero);
  tonari_neighborhood good;
  EXPECT_OK(tonari_neighborhood_create_cart(eight, 1, zero, MPI_INFO_NULL, &good));
  EXPECT_OK(tonari_neighborhood_free(&good));
  MPI_Comm_free(&nine);
  MPI_Comm_free(&eight);
}

TEST_F(NeighborhoodErrors, Intercommunicator) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 5, &inter);
  expect_refused(TONARI_ERR_TOPOLOGY, {"Cartesian"}, inter, 4, t.offsets.data());
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

TEST_F(NeighborhoodErrors, OneRankGivesNonsense) {
  const bool errs = rank == last;
  const std::string who = std::to_string(last);
  expect_refused(TONARI_ERR_ARGUMENT, {"-3", "negative"}, cart, errs ? -3 : 4, t.offsets.data());
  expect_refused(TONARI_ERR_ARGUMENT, {"`offsets` is NULL", "4 neighbors"}, cart, 4,
                 errs ? nullptr : t.offsets.data());
  std::vector<int> huge = t.offsets;
  if (errs) huge[3] = INT_MIN;
  expect_refused(TONARI_ERR_OVERFLOW, {std::to_string(INT_MIN)}, cart, 4, huge.data());
  huge[3] = INT_MAX;
  expect_refused(TONARI_ERR_OVERFLOW, {std::to_string(INT_MAX)}, cart, 4, huge.data());
  expect_everywhere(
      tonari_neighborhood_create_cart(MPI_COMM_NULL, 4, t.offsets.data(), MPI_INFO_NULL, &near),
      TONARI_ERR_ARGUMENT, {"MPI_COMM_NULL"});
  expect_usable();
}

TEST_F(NeighborhoodErrors, NoPlaceForTheResultOnOneRank) {
  tonari_neighborhood other = TONARI_NEIGHBORHOOD_NULL;
  expect_everywhere(tonari_neighborhood_create_cart(cart, 4, t.offsets.data(), MPI_INFO_NULL,
                                                    rank == last ? nullptr : &other),
                    TONARI_ERR_ARGUMENT, {"`near` is NULL"});
  EXPECT_EQ(other, TONARI_NEIGHBORHOOD_NULL);
  expect_usable();
}

TEST_F(NeighborhoodErrors, BadInfoOnOneRank) {
  const Info good{{"tonari_channel", "p2p-typed"}}, bad{{"tonari_channel", "pigeon"}};
  expect_refused(
      TONARI_ERR_ARGUMENT,
      {"tonari_channel", "pigeon", "p2p-typed", "p2p-packed", "shared", "onesided", "auto"}, cart,
      4, t.offsets.data(), rank == last ? bad : good);
  if (ranks > 1)
    expect_refused(TONARI_ERR_MISMATCH, {"info"}, cart, 4, t.offsets.data(),
                   rank == last ? MPI_INFO_NULL : MPI_Info(good));
  expect_usable();
}

TEST_F(NeighborhoodErrors, NullHandles) {
  int n = 0;
  EXPECT_EQ(tonari_neighborhood_count(TONARI_NEIGHBORHOOD_NULL, &n), TONARI_ERR_ARGUMENT);
  EXPECT_EQ(tonari_neighborhood_count(near, nullptr), TONARI_ERR_ARGUMENT);
  EXPECT_EQ(tonari_neighborhood_ranks(TONARI_NEIGHBORHOOD_NULL, &n, &n), TONARI_ERR_ARGUMENT);
  EXPECT_OK(tonari_neighborhood_ranks(near, nullptr, nullptr));
  EXPECT_EQ(tonari_neighborhood_free(nullptr), TONARI_ERR_ARGUMENT);
  tonari_neighborhood none = TONARI_NEIGHBORHOOD_NULL;
  EXPECT_OK(tonari_neighborhood_free(&none));
}

// ---- Operations

class OperationErrors : public Errors {};

TEST_F(OperationErrors, NullNeighborhoodAndNullPlace) {
  tonari_neighborhood none = TONARI_NEIGHBORHOOD_NULL;
  EXPECT_EQ(tonari_alltoall_init(send, 1, MPI_INT, recv, 1, MPI_INT, none, MPI_INFO_NULL, &request),
            TONARI_ERR_ARGUMENT);
  tonari_request out = TONARI_REQUEST_NULL;
  expect_everywhere(tonari_alltoall_init(send, 1, MPI_INT, recv, 1, MPI_INT, near, MPI_INFO_NULL,
                                         rank == last ? nullptr : &out),
                    TONARI_ERR_ARGUMENT, {"`request` is NULL"});
  EXPECT_EQ(out, TONARI_REQUEST_NULL);
  expect_usable();
}

TEST_F(OperationErrors, NullBuffersAndArrays) {
  const bool errs = rank == last;
  expect_everywhere(alltoall(errs ? nullptr : send, 2, recv, 2, quick), TONARI_ERR_ARGUMENT,
                    {"send block 0", "`sendbuf` is NULL"});
  expect_everywhere(alltoall(send, 2, errs ? nullptr : recv, 2, quick), TONARI_ERR_ARGUMENT,
                    {"receive block 0", "`recvbuf` is NULL"});
  // nothing to send
  EXPECT_OK(alltoall(nullptr, 0, nullptr, 0, quick));
  EXPECT_OK(tonari_request_free(&request));
  const int counts[4] = {1, 1, 1, 1};
  const MPI_Aint at[4] = {0, 4, 8, 12};
  const MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  tonari_request out = TONARI_REQUEST_NULL;
  expect_everywhere(tonari_alltoallw_init(send, errs ? nullptr : counts, at, types, recv, counts,
                                          at, types, near, quick, &out),
                    TONARI_ERR_ARGUMENT, {"`sendcounts` is NULL"});
  expect_everywhere(tonari_alltoallw_init(send, counts, at, types, recv, counts,
                                          errs ? nullptr : at, types, near, quick, &out),
                    TONARI_ERR_ARGUMENT, {"`recvdispls` is NULL"});
  expect_everywhere(tonari_alltoallw_init(send, counts, at, errs ? nullptr : types, recv, counts,
                                          at, types, near, quick, &out),
                    TONARI_ERR_ARGUMENT, {"`sendtypes` is NULL"});
  expect_everywhere(tonari_allgatherv_init(send, 1, MPI_INT, recv, errs ? nullptr : counts, at,
                                           MPI_INT, near, quick, &out),
                    TONARI_ERR_ARGUMENT, {"`recvcounts` is NULL"});
  EXPECT_EQ(out, TONARI_REQUEST_NULL);
  expect_usable();
}

TEST_F(OperationErrors, NegativeCountsAndNullTypes) {
  const bool errs = rank == last;
  expect_everywhere(alltoall(send, errs ? -2 : 2, recv, 2, quick), TONARI_ERR_ARGUMENT,
                    {"`sendcount` is -2", "negative"});
  const int counts[4] = {1, 1, 1, 1}, bad[4] = {1, 1, 1, -9};
  const MPI_Aint at[4] = {0, 1, 2, 3};
  tonari_request out = TONARI_REQUEST_NULL;
  expect_everywhere(tonari_alltoallv_init(send, counts, at, MPI_INT, recv, errs ? bad : counts, at,
                                          MPI_INT, near, quick, &out),
                    TONARI_ERR_ARGUMENT, {"`recvcounts[3]` is -9"});
  expect_everywhere(tonari_alltoall_init(send, 1, errs ? MPI_DATATYPE_NULL : MPI_INT, recv, 1,
                                         MPI_INT, near, quick, &out),
                    TONARI_ERR_ARGUMENT, {"`sendtype` is MPI_DATATYPE_NULL"});
  const MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT},
                     hole[4] = {MPI_INT, MPI_DATATYPE_NULL, MPI_INT, MPI_INT};
  const MPI_Aint bytes[4] = {0, 4, 8, 12};
  expect_everywhere(tonari_allgatherw_init(send, 1, MPI_INT, recv, counts, bytes,
                                           errs ? hole : types, near, quick, &out),
                    TONARI_ERR_ARGUMENT, {"`recvtypes[1]` is MPI_DATATYPE_NULL"});
  EXPECT_EQ(out, TONARI_REQUEST_NULL);
  expect_usable();
}

// One rank gives null types where it has no elements, the others give others.
TEST_F(OperationErrors, NullTypesDescribeNoElements) {
  const MPI_Datatype none = rank == last ? MPI_DATATYPE_NULL : MPI_INT;
  const int zeros[4] = {}, counts[4] = {1, 0, 1, 1};
  const MPI_Aint at[4] = {0, 1, 2, 3}, bytes[4] = {0, 4, 8, 12};
  const MPI_Datatype types[4] = {MPI_INT, none, MPI_INT, MPI_INT};
  EXPECT_OK(tonari_alltoall(nullptr, 0, none, nullptr, 0, none, near));
  EXPECT_OK(tonari_allgather(nullptr, 0, none, nullptr, 0, none, near));
  EXPECT_OK(tonari_alltoallv(send, zeros, at, none, recv, zeros, at, none, near));
  EXPECT_OK(tonari_allgatherv(send, 0, none, recv, zeros, at, none, near));
  for (int i = 0; i < 4; ++i) send[i] = 10 * rank + i, recv[i] = -1;
  EXPECT_OK(tonari_alltoallw(send, counts, bytes, types, recv, counts, bytes, types, near));
  EXPECT_EQ(recv[1], -1);
  for (const int i : {0, 2, 3}) EXPECT_EQ(recv[i] % 10, i);
  for (const char* algorithm : {"linear", "native"}) {
    Info forced{{"tonari_algorithm", algorithm}};
    EXPECT_OK(tonari_alltoallw_init(send, counts, bytes, types, recv, counts, bytes, types, near,
                                    forced, &request));
    recv[3] = -1;
    EXPECT_OK(tonari_start(request));
    EXPECT_OK(tonari_wait(request));
    EXPECT_EQ(recv[3] % 10, 3) << algorithm;
    EXPECT_OK(tonari_request_free(&request));
  }
  // each rank tells its own mistake: one-shot calls vote on none
  EXPECT_EQ(tonari_alltoallv(send, counts, at, MPI_DATATYPE_NULL, recv, counts, at, MPI_INT, near),
            TONARI_ERR_ARGUMENT);
  const std::string name = last > 0 ? "rank " + std::to_string(rank) + ": " : "";
  const std::string own = name + "`sendtype` is MPI_DATATYPE_NULL";
  for (const std::string& words : {own, std::string("elements")})
    EXPECT_CONTAINS(std::string(tonari_last_error()), words);
  expect_usable();
}

TEST_F(OperationErrors, InPlace) {
  const bool errs = rank == last;
  expect_everywhere(alltoall(errs ? MPI_IN_PLACE : send, 2, recv, 2, quick), TONARI_ERR_ARGUMENT,
                    {"MPI_IN_PLACE"});
  expect_everywhere(alltoall(send, 2, errs ? MPI_IN_PLACE : recv, 2, quick), TONARI_ERR_ARGUMENT,
                    {"MPI_IN_PLACE"});
  tonari_request out = TONARI_REQUEST_NULL;
  expect_everywhere(
      tonari_allgather_init(MPI_IN_PLACE, 1, MPI_INT, recv, 1, MPI_INT, near, quick, &out),
      TONARI_ERR_ARGUMENT, {"MPI_IN_PLACE"});
  expect_usable();
}

TEST_F(OperationErrors, Overflow) {
  const bool errs = rank == last;
  MPI_Datatype wide;  // one int, and half of the address space after it
  MPI_Type_create_resized(MPI_INT, 0, PTRDIFF_MAX / 2 - 3, &wide);
  MPI_Type_commit(&wide);
  tonari_request out = TONARI_REQUEST_NULL;
  expect_everywhere(tonari_alltoall_init(send, errs ? 1000 : 1, errs ? wide : MPI_INT, recv, 1,
                                         MPI_INT, near, quick, &out),
                    TONARI_ERR_OVERFLOW, {"does not fit"});
  expect_everywhere(
      tonari_alltoall_init(send, 1, MPI_INT, recv, 1, errs ? wide : MPI_INT, near, quick, &out),
      TONARI_ERR_OVERFLOW, {"does not fit"});
  const int counts[4] = {1, 1, 1, 1};
  const MPI_Aint at[4] = {0, 1, 2, 3}, far[4] = {0, 1, 2, PTRDIFF_MAX / 2};
  expect_everywhere(tonari_alltoallv_init(send, counts, errs ? far : at, MPI_INT, recv, counts, at,
                                          MPI_INT, near, quick, &out),
                    TONARI_ERR_OVERFLOW, {"does not fit"});
  MPI_Type_free(&wide);
  EXPECT_EQ(out, TONARI_REQUEST_NULL);
  expect_usable();
}

TEST_F(OperationErrors, TypesThatAreTooWide) {
  const bool errs = rank == last;
  const WideTypes wide;
  tonari_request out = TONARI_REQUEST_NULL;
  for (MPI_Datatype type : wide.all()) {
    const MPI_Datatype its = errs ? type : MPI_INT;
    expect_everywhere(tonari_alltoall_init(send, 1, its, recv, 1, MPI_INT, near, quick, &out),
                      TONARI_ERR_OVERFLOW, {"does not fit"});
    expect_everywhere(tonari_alltoall(send, 1, MPI_INT, recv, 1, its, near), TONARI_ERR_OVERFLOW,
                      {"does not fit"});
    expect_everywhere(tonari_allgather_init(send, 1, its, recv, 1, MPI_INT, near, quick, &out),
                      TONARI_ERR_OVERFLOW, {"does not fit"});
    const int counts[4] = {1, 1, 1, 1};
    const MPI_Aint at[4] = {0, 4, 8, 12};
    const MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, its},
                       ints[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    expect_everywhere(tonari_alltoallw(send, counts, at, ints, recv, counts, at, types, near),
                      TONARI_ERR_OVERFLOW, {"does not fit"});
  }
  // Its bytes fit, where they lie does not.
  const int counts[4] = {1, 1, 1, 1};
  const MPI_Aint at[4] = {0, 4, 8, 12}, far[4] = {0, 4, 8, errs ? PTRDIFF_MAX - 2 : 12};
  const MPI_Datatype ints[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  expect_everywhere(
      tonari_alltoallw_init(send, counts, far, ints, recv, counts, at, ints, near, quick, &out),
      TONARI_ERR_OVERFLOW, {"address of", "does not fit"});
  EXPECT_EQ(out, TONARI_REQUEST_NULL);
  expect_usable();
}

TEST_F(OperationErrors, SizesThatDoNotMatchNameBothRanksBlockAndSizes) {
  // Rank `odd` sends one int more in block 1 than its receiver expects, and nobody receives more
  // than it has room for.
  const int odd = last;
  int sent[4] = {3, 3, 3, 3};
  const int received[4] = {3, 3, 3, 3};
  if (rank == odd) sent[1] = 5;
  const MPI_Aint at[4] = {0, 8, 16, 24};
  tonari_request out = TONARI_REQUEST_NULL;
  const int receiver = t.target(odd, 1);
  expect_everywhere(tonari_alltoallv_init(send, sent, at, MPI_INT, recv, received, at, MPI_INT,
                                          near, quick, &out),
                    TONARI_ERR_MISMATCH,
                    {"block 1", "rank " + std::to_string(odd), "rank " + std::to_string(receiver),
                     "20 bytes", "12"});
  expect_everywhere(alltoall(send, rank == odd ? 1 : 2, recv, 2, quick), TONARI_ERR_MISMATCH,
                    {"rank " + std::to_string(odd), "4 bytes", "8"});
  expect_everywhere(tonari_allgather_init(send, 3, MPI_INT, recv, rank == odd ? 4 : 3, MPI_INT,
                                          near, quick, &out),
                    TONARI_ERR_MISMATCH, {"to rank " + std::to_string(odd), "12 bytes", "16"});
  EXPECT_EQ(out, TONARI_REQUEST_NULL);
  expect_usable();
}

TEST_F(OperationErrors, OneCallsAllToAllTheOtherAllGather) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  tonari_request out = TONARI_REQUEST_NULL;
  const int code =
      rank == last ? tonari_allgather_init(send, 1, MPI_INT, recv, 1, MPI_INT, near, quick, &out)
                   : tonari_alltoall_init(send, 1, MPI_INT, recv, 1, MPI_INT, near, quick, &out);
  expect_everywhere(code, TONARI_ERR_MISMATCH, {"all-to-all", "allgather"});
  EXPECT_EQ(out, TONARI_REQUEST_NULL);
  expect_usable();
}

// ---- Overlapping blocks

class Overlaps : public Errors {
 protected:
  int v(const MPI_Aint* out_at, const MPI_Aint* in_at, int* memory) {
    const int counts[4] = {2, 2, 2, 2};
    tonari_request out = TONARI_REQUEST_NULL;
    const int code = tonari_alltoallv_init(memory, counts, out_at, MPI_INT, memory, counts, in_at,
                                           MPI_INT, near, quick, &out);
    EXPECT_EQ(out == TONARI_REQUEST_NULL, code != TONARI_SUCCESS);
    tonari_request_free(&out);
    return code;
  }
  const MPI_Aint evens[4] = {0, 4, 8, 12}, odds[4] = {2, 6, 10, 14}, shifted[4] = {17, 21, 25, 26};
  const MPI_Aint touching[4] = {2, 6, 10, 13};  // its last block begins inside of the last of evens
  const MPI_Aint double_block[4] = {16, 17, 6, 10};
};

TEST_F(Overlaps, SendAndReceive) {
  const bool errs = rank == last;
  expect_everywhere(alltoall(send, 2, errs ? send + 6 : recv, 2, quick), TONARI_ERR_BUFFERS,
                    {"rank " + std::to_string(last), "send block 3", "receive block 0", "overlap"});
  expect_everywhere(v(evens, errs ? touching : odds, send), TONARI_ERR_BUFFERS,
                    {"send block 3", "receive block 3"});
  expect_usable();
}

TEST_F(Overlaps, TwoReceiveBlocks) {
  expect_everywhere(v(evens, rank == last ? double_block : odds, send), TONARI_ERR_BUFFERS,
                    {"receive block 0", "receive block 1"});
  expect_usable();
}

TEST_F(Overlaps, OneByteIsEnough) {
  const int counts[4] = {1, 1, 1, 1};
  const MPI_Aint out_at[4] = {0, 4, 8, 12}, in_at[4] = {16, 20, 24, rank == last ? 15 : 28};
  const MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  tonari_request out = TONARI_REQUEST_NULL;
  expect_everywhere(tonari_alltoallw_init(send, counts, out_at, types, send, counts, in_at, types,
                                          near, quick, &out),
                    TONARI_ERR_BUFFERS, {"overlap"});
  expect_usable();
}

TEST_F(Overlaps, SendBlocksMayAndInterleavedOnesMayBeInOneArray) {
  const MPI_Aint same[4] = {0, 0, 1, 1};
  // send block 2 reaches into receive block 0
  EXPECT_EQ(v(same, odds, send + 0), TONARI_ERR_BUFFERS);
  // receive block 3 begins inside of receive block 2
  EXPECT_EQ(v(same, shifted, send), TONARI_ERR_BUFFERS);
  const MPI_Aint apart[4] = {17, 21, 25, 29};
  EXPECT_OK(v(same, apart, send));
  EXPECT_OK(v(evens, odds, send));
  // Columns of one matrix: send and receive blocks as wide as the array, without a common byte.
  MPI_Datatype column, narrow;
  MPI_Type_vector(6, 1, 8, MPI_INT, &column);
  MPI_Type_create_resized(column, 0, sizeof(int), &narrow);
  MPI_Type_commit(&narrow);
  tonari_request out = TONARI_REQUEST_NULL;
  EXPECT_OK(tonari_alltoall_init(send, 1, narrow, send + 4, 1, narrow, near, quick, &out));
  EXPECT_OK(tonari_request_free(&out));
  expect_everywhere(tonari_alltoall_init(send, 1, narrow, send + 3, 1, narrow, near, quick, &out),
                    TONARI_ERR_BUFFERS, {"send block 3", "receive block 0"});
  MPI_Type_free(&narrow);
  MPI_Type_free(&column);
}

// ---- Requests: local

class RequestErrors : public Errors {
 protected:
  void SetUp() override {
    Errors::SetUp();
    ASSERT_OK(alltoall(quick));
  }
  void TearDown() override {
    EXPECT_OK(tonari_request_free(&request));
    Errors::TearDown();
  }
};

TEST_F(RequestErrors, StartedTwice) {
  EXPECT_OK(tonari_start(request));
  EXPECT_EQ(tonari_start(request), TONARI_ERR_ACTIVE);
  EXPECT_NE(std::string(tonari_last_error()).find("tonari_wait"), std::string::npos);
  EXPECT_EQ(tonari_startall(1, &request), TONARI_ERR_ACTIVE);
  EXPECT_OK(tonari_wait(request));
  const tonari_request twice[] = {request, request};
  EXPECT_EQ(tonari_startall(2, twice), TONARI_ERR_ACTIVE);
  EXPECT_EQ(tonari_start(request), TONARI_SUCCESS) << "startall of a bad list must start none";
  EXPECT_OK(tonari_waitall(2, twice));
}

TEST_F(RequestErrors, FreedWhileActive) {
  EXPECT_OK(tonari_start(request));
  EXPECT_EQ(tonari_request_free(&request), TONARI_ERR_ACTIVE);
  EXPECT_NE(request, TONARI_REQUEST_NULL);
  EXPECT_OK(tonari_wait(request));
}

TEST_F(RequestErrors, Null) {
  tonari_request none = TONARI_REQUEST_NULL;
  int flag = 0;
  EXPECT_EQ(tonari_start(none), TONARI_ERR_ARGUMENT);
  EXPECT_OK(tonari_wait(none));
  EXPECT_OK(tonari_test(none, &flag));
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(tonari_test(request, nullptr), TONARI_ERR_ARGUMENT);
  EXPECT_EQ(tonari_startall(-1, &none), TONARI_ERR_ARGUMENT);
  EXPECT_EQ(tonari_waitall(1, nullptr), TONARI_ERR_ARGUMENT);
  EXPECT_OK(tonari_waitall(0, nullptr));
  EXPECT_OK(tonari_waitall(1, &none));
  EXPECT_OK(tonari_request_free(&none));
  EXPECT_EQ(tonari_request_free(nullptr), TONARI_ERR_ARGUMENT);
  EXPECT_EQ(tonari_request_describe(none), nullptr);
  tonari_request_info info;
  EXPECT_EQ(tonari_request_get_info(none, &info), TONARI_ERR_ARGUMENT);
  EXPECT_EQ(tonari_request_get_info(request, nullptr), TONARI_ERR_ARGUMENT);
}

TEST_F(RequestErrors, NotStarted) {
  int flag = 0;
  EXPECT_OK(tonari_test(request, &flag));
  EXPECT_EQ(flag, 1);
  EXPECT_OK(tonari_wait(request));
}

TEST_F(RequestErrors, EveryCodeHasItsWords) {
  for (int code = TONARI_SUCCESS; code <= TONARI_ERR_PEER; ++code)
    EXPECT_STRNE(tonari_error_string(code), tonari_error_string(-1)) << code;
  EXPECT_STREQ(tonari_error_string(TONARI_ERR_PEER + 1), tonari_error_string(-1));
}

}  // namespace
