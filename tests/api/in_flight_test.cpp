// SPDX-License-Identifier: BSD-3-Clause
// Exchanges go on while a rank waits for something else: in a collective call of tonari's, or for
// another exchange.
#include <tonari/sparse.h>

#include <vector>

#include "support/oracle.hpp"

namespace {

using namespace tonari::test;

// On a ring, the blocks for the next but one pass through the next.
class InFlight : public testing::Test {
 protected:
  void SetUp() override {
    ranks = world_size();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Topology ring;
    ring.dims = {ranks}, ring.periods = {1}, ring.offsets = {1, 2, -1};
    MPI_Comm cart = make_cart(ring);
    const Info info{{"tonari_algorithm", "torus"}, {"tonari_tune", "off"}};
    ASSERT_OK(tonari_neighborhood_create_cart(cart, 3, ring.offsets.data(), info, &near));
    MPI_Comm_free(&cart);
  }
  void TearDown() override { EXPECT_OK(tonari_neighborhood_free(&near)); }

  struct Buffers {
    int out[3], in[3] = {-1, -1, -1};
  };
  Buffers fill(int salt) const {
    Buffers b;
    for (int i = 0; i < 3; ++i) b.out[i] = 1000 * salt + 10 * rank + i;
    return b;
  }
  void expect_delivered(const Buffers& b, int salt) const {
    const int from[] = {rank - 1, rank - 2, rank + 1};
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(b.in[i], 1000 * salt + 10 * ((from[i] % ranks + ranks) % ranks) + i)
          << "block " << i;
  }
  int ialltoall(Buffers& b, tonari_request& request) {
    return tonari_ialltoall(b.out, 1, MPI_INT, b.in, 1, MPI_INT, near, &request);
  }

  int rank = 0, ranks = 1;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
};

// Some ranks are in a collective call already, where others still wait for blocks that pass through
// them.
TEST_F(InFlight, CollectiveCallsLetThemProceed) {
  for (int late = 0; late < ranks; ++late) {
    Buffers first = fill(1), second = fill(2);
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(ialltoall(first, request));
    if (rank == late) {
      EXPECT_OK(tonari_wait(request));
    }
    ASSERT_OK(tonari_alltoall(second.out, 1, MPI_INT, second.in, 1, MPI_INT, near));
    if (rank != late) {
      EXPECT_OK(tonari_wait(request));
    }
    expect_delivered(first, 1);
    expect_delivered(second, 2);
    EXPECT_OK(tonari_request_free(&request));
  }
}

TEST_F(InFlight, InitLetsThemProceed) {
  Buffers first = fill(1), second = fill(2);
  tonari_request request = TONARI_REQUEST_NULL, persistent = TONARI_REQUEST_NULL;
  ASSERT_OK(ialltoall(first, request));
  if (rank == 0) {
    EXPECT_OK(tonari_wait(request));
  }
  ASSERT_OK(tonari_alltoall_init(second.out, 1, MPI_INT, second.in, 1, MPI_INT, near, MPI_INFO_NULL,
                                 &persistent));
  if (rank != 0) {
    EXPECT_OK(tonari_wait(request));
  }
  expect_delivered(first, 1);
  EXPECT_OK(tonari_request_free(&request));
  EXPECT_OK(tonari_request_free(&persistent));
}

TEST_F(InFlight, SparseExchangesLetThemProceed) {
  for (const char* algorithm : {"pairwise", "nbx", "personalized", "store-and-forward/1"})
    for (int late = 0; late < ranks; ++late) {
      Buffers first = fill(1);
      tonari_request request = TONARI_REQUEST_NULL;
      ASSERT_OK(ialltoall(first, request));
      if (rank == late) {
        EXPECT_OK(tonari_wait(request));
      }
      const MPI_Count one = 1;
      const int to = (rank + 1) % ranks;
      tonari_messages got = TONARI_MESSAGES_NULL;
      ASSERT_OK(tonari_sparse_alltoallv(1, &to, &one, nullptr, MPI_INT, &rank, MPI_COMM_WORLD,
                                        Info{{"tonari_algorithm", algorithm}}, &got));
      if (rank != late) {
        EXPECT_OK(tonari_wait(request));
      }
      expect_delivered(first, 1);
      EXPECT_EQ(*static_cast<const int*>(got->data), (rank + ranks - 1) % ranks);
      EXPECT_OK(tonari_messages_free(&got));
      EXPECT_OK(tonari_request_free(&request));
    }
}

// Each rank waits for another of several exchanges first.
TEST_F(InFlight, WaitingForOneDrivesTheOthers) {
  constexpr int n = 4;
  Buffers buffers[n];
  tonari_request requests[n];
  for (int k = 0; k < n; ++k) {
    buffers[k] = fill(k);
    ASSERT_OK(ialltoall(buffers[k], requests[k]));
  }
  for (int k = 0; k < n; ++k) EXPECT_OK(tonari_wait(requests[(k + rank) % n]));
  for (int k = 0; k < n; ++k) {
    expect_delivered(buffers[k], k);
    EXPECT_OK(tonari_request_free(&requests[k]));
  }
}

}  // namespace
