// SPDX-License-Identifier: BSD-3-Clause
// Whose mistake it is, and what layers above C find wrong (tonari_refuse).
#include <tonari/group.h>

#include "api/errors.hpp"

namespace {

using namespace tonari::test;

class Refusals : public Errors {
 protected:
  std::string by_last(const std::string& sentence) const {
    return ranks > 1 ? "rank " + std::to_string(last) + ": " + sentence : sentence;
  }
};

TEST_F(Refusals, OneRanksMistakeNamesIt) {
  const int code = alltoall(send, rank == last ? -1 : 2, recv, 2, quick);
  expect_everywhere(code, TONARI_ERR_ARGUMENT, {});
  EXPECT_EQ(tonari_last_error(), by_last("`sendcount` is -1; counts must not be negative"));
}

TEST_F(Refusals, TheMistakeOfAllRanksIsNobodys) {
  EXPECT_EQ(alltoall(send, -1, recv, 2, quick), TONARI_ERR_ARGUMENT);
  EXPECT_STREQ(tonari_last_error(), "`sendcount` is -1; counts must not be negative");
  if (ranks == 1) return;
  EXPECT_EQ(alltoall(send, -1 - rank, recv, 2, quick), TONARI_ERR_ARGUMENT);
  EXPECT_STREQ(tonari_last_error(), "rank 0: `sendcount` is -1; counts must not be negative");
}

TEST_F(Refusals, ALayerAboveSaysWhatIsWrong) {
  if (rank == last) {
    tonari_refuse(TONARI_SUCCESS, "nothing is wrong");
    tonari_refuse(TONARI_ERR_BUFFERS, "the list is too short");
    tonari_refuse(TONARI_ERR_FILE, "the first mistake counts");
  }
  // even where nothing else is wrong
  expect_everywhere(alltoall(send, 2, recv, 2, quick), TONARI_ERR_BUFFERS, {});
  EXPECT_EQ(tonari_last_error(), by_last("the list is too short"));
  expect_usable();
}

// Nothing is left for the next call.
TEST_F(Refusals, BelongToTheCallThatFails) {
  tonari_refuse(TONARI_ERR_PROMISE, "there is no neighborhood");
  tonari_request none = TONARI_REQUEST_NULL;
  EXPECT_EQ(tonari_alltoall_init(send, 2, MPI_INT, recv, 2, MPI_INT, nullptr, quick, &none),
            TONARI_ERR_PROMISE);
  EXPECT_STREQ(tonari_last_error(), "there is no neighborhood");
  expect_usable();
}

// By streams, and before these are connected.
TEST_F(Refusals, OfOneShotCalls) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_OK(round == 0 ? TONARI_SUCCESS
                         : tonari_alltoall(send, 2, MPI_INT, recv, 2, MPI_INT, near));
    if (rank == last) tonari_refuse(TONARI_ERR_ARGUMENT, "the list is too short");
    const int code = tonari_alltoall(send, 2, MPI_INT, recv, 2, MPI_INT, near);
    std::vector<int> peers(8);
    EXPECT_OK(tonari_neighborhood_ranks(near, peers.data(), peers.data() + 4));
    if (rank != last && std::ranges::find(peers, last) == peers.end()) continue;
    EXPECT_EQ(code, TONARI_ERR_ARGUMENT);
    EXPECT_CONTAINS(tonari_last_error(), "the list is too short");
    EXPECT_TRUE(rank == last || tonari_last_error() == by_last("the list is too short"));
  }
}

// The call itself succeeds; the end of the group tells all.
TEST_F(Refusals, InAGroup) {
  ASSERT_OK(tonari_group_start(MPI_COMM_WORLD));
  if (rank == last) tonari_refuse(TONARI_ERR_ARGUMENT, "the list is too short");
  EXPECT_OK(tonari_alltoall_init(send, 2, MPI_INT, recv, 2, MPI_INT, near, MPI_INFO_NULL, nullptr));
  tonari_request all = TONARI_REQUEST_NULL;
  expect_everywhere(tonari_group_end(quick, &all), TONARI_ERR_ARGUMENT,
                    {by_last("in call 0 of the group: the list is too short")});
  expect_usable();
}

}  // namespace
