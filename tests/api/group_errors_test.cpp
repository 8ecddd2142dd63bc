// SPDX-License-Identifier: BSD-3-Clause
// Wrong groups: all ranks get the same code and sentence from tonari_group_end, and a correct call
// afterwards works.
#include <tonari/group.hpp>

#include "api/errors.hpp"
#include "support/counting.hpp"

namespace {

using namespace tonari::test;

class GroupErrors : public Errors {
 protected:
  // Blocks of n integers from send[at] on to recv[at] on, for the four neighbors.
  int call(int n, int at = 0, MPI_Info info = MPI_INFO_NULL) {
    return tonari_alltoall_init(send + at, n, MPI_INT, recv + at, n, MPI_INT, near, info, nullptr);
  }
  void open() { ASSERT_OK(tonari_group_start(MPI_COMM_WORLD)); }
  void expect_refused(int expected, std::initializer_list<std::string> words) {
    request = unchanged();
    expect_everywhere(tonari_group_end(quick, &request), expected, words);
    EXPECT_EQ(request, unchanged()) << "output is written on success only";
    expect_usable();
  }
};

TEST_F(GroupErrors, AWrongCallOnOneRank) {
  open();
  EXPECT_OK(call(2));
  EXPECT_OK(call(rank == last ? -3 : 2, 8));
  EXPECT_OK(call(2, 16));
  expect_refused(TONARI_ERR_ARGUMENT,
                 {"in call 1 of the group", "`sendcount` is -3", "must not be negative"});
}

TEST_F(GroupErrors, NullNeighborhood) {
  open();
  tonari_neighborhood none = TONARI_NEIGHBORHOOD_NULL;
  EXPECT_OK(tonari_alltoall_init(send, 1, MPI_INT, recv, 1, MPI_INT, rank == 0 ? none : near,
                                 MPI_INFO_NULL, nullptr));
  expect_refused(TONARI_ERR_ARGUMENT, {"in call 0 of the group", "`near` is NULL"});
}

TEST_F(GroupErrors, OtherCalls) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  open();
  EXPECT_OK(call(2));
  EXPECT_OK(rank == last ? TONARI_SUCCESS : call(2, 8));
  expect_refused(TONARI_ERR_MISMATCH, {"different numbers of calls", "same order"});
  open();
  EXPECT_OK(call(2));
  EXPECT_OK(rank == last ? tonari_allgather_init(send, 2, MPI_INT, recv + 8, 2, MPI_INT, near,
                                                 MPI_INFO_NULL, nullptr)
                         : call(2, 8));
  expect_refused(TONARI_ERR_MISMATCH, {"different calls", "same order"});
}

// The bytes of both calls together would fit.
TEST_F(GroupErrors, SizesThatDifferInEachCall) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  open();
  EXPECT_OK(call(rank == last ? 1 : 2));
  EXPECT_OK(call(rank == last ? 2 : 1, 16));
  expect_refused(TONARI_ERR_MISMATCH, {"in call 0 of the group", "4 bytes at the sender and 8"});
  open();
  EXPECT_OK(call(2));
  EXPECT_OK(call(rank == last ? 2 : 1, 16));
  expect_refused(TONARI_ERR_MISMATCH, {"in call 1 of the group", "8 bytes at the sender and 4"});
}

// The functions that exchange at once say the same.
TEST_F(GroupErrors, AtOnce) {
  EXPECT_EQ(tonari_group_run(quick), TONARI_ERR_ARGUMENT);
  EXPECT_SAID("no group is open");
  for (const bool waits : {true, false}) {
    open();
    EXPECT_OK(call(rank == last ? -3 : 2));
    request = unchanged();
    expect_everywhere(waits ? tonari_group_run(quick) : tonari_group_irun(quick, &request),
                      TONARI_ERR_ARGUMENT, {"in call 0 of the group", "`sendcount` is -3"});
    EXPECT_EQ(request, unchanged());
  }
  open();
  EXPECT_OK(call(2));
  expect_everywhere(tonari_group_irun(quick, rank == last ? nullptr : &request),
                    TONARI_ERR_ARGUMENT, {"`request` is NULL"});
  expect_usable();
}

TEST_F(GroupErrors, CallsThatOverlap) {
  open();
  EXPECT_OK(call(2));
  EXPECT_OK(tonari_alltoall_init(send, 2, MPI_INT, recv + (rank == last ? 7 : 8), 2, MPI_INT, near,
                                 MPI_INFO_NULL, nullptr));
  expect_refused(TONARI_ERR_BUFFERS,
                 {"on rank " + std::to_string(last) + ", call 0 (alltoall) and call 1"});
  open();
  EXPECT_OK(call(2));
  EXPECT_OK(tonari_alltoall_init(recv + 7, 2, MPI_INT, recv + 32, 2, MPI_INT, near, MPI_INFO_NULL,
                                 nullptr));
  expect_refused(TONARI_ERR_BUFFERS, {"call 0 (alltoall) and call 1"});
}

TEST_F(GroupErrors, KeysOfCalls) {
  open();
  EXPECT_OK(call(2, 0, rank == last ? MPI_Info(quick) : MPI_INFO_NULL));
  expect_refused(TONARI_ERR_ARGUMENT, {"`info`", "tonari_group_end"});
  open();
  EXPECT_OK(call(2));
  expect_everywhere(tonari_group_end(Info{{"tonari_chanel", "auto"}}, &request),
                    TONARI_ERR_ARGUMENT, {"tonari_chanel"});
  if (ranks > 1) {
    open();
    EXPECT_OK(call(2));
    expect_everywhere(
        tonari_group_end(Info{{"tonari_channel", rank == last ? "auto" : "p2p-packed"}}, &request),
        TONARI_ERR_MISMATCH, {"tonari_channel"});
  }
  expect_usable();
}

TEST_F(GroupErrors, OpenAndClosed) {
  EXPECT_EQ(tonari_group_end(quick, &request), TONARI_ERR_ARGUMENT);
  EXPECT_SAID("no group is open");
  EXPECT_EQ(tonari_group_start(MPI_COMM_NULL), TONARI_ERR_ARGUMENT);
  EXPECT_SAID("`comm` is MPI_COMM_NULL");
  open();
  EXPECT_OK(call(2));
  if (rank == last) {
    EXPECT_EQ(tonari_group_start(MPI_COMM_WORLD), TONARI_ERR_ACTIVE);
    EXPECT_SAID("a group is open on this thread");
  }
  expect_refused(TONARI_ERR_ACTIVE, {"another group"});
}

TEST_F(GroupErrors, OtherRanks) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  MPI_Comm alone;
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
  ASSERT_OK(tonari_group_start(alone));
  EXPECT_OK(call(2));
  EXPECT_EQ(tonari_group_end(quick, &request), TONARI_ERR_ARGUMENT);
  EXPECT_SAID("call 0 of the group (alltoall) is on a communicator");
  MPI_Comm_free(&alone);
  expect_usable();
}

TEST_F(GroupErrors, WhatARequestOfAGroupCannotDo) {
  open();
  int there[64] = {};
  EXPECT_EQ(tonari_alltoall_inplace_init(there, 1, MPI_INT, MPI_COMM_WORLD, quick, &request),
            TONARI_ERR_ARGUMENT);
  EXPECT_SAID("in place cannot be part of a group");
  EXPECT_OK(call(2));
  request = TONARI_REQUEST_NULL;
  EXPECT_EQ(tonari_start(request), TONARI_ERR_ARGUMENT) << "before the end there is none";
  ASSERT_OK(tonari_group_end(quick, &request));
  EXPECT_EQ(tonari_start_with(request, send, there), TONARI_ERR_ARGUMENT);
  EXPECT_SAID("it exchanges a group");
  EXPECT_OK(start_and_wait(request));
  const void* view = nullptr;
  EXPECT_EQ(tonari_request_recv_view(request, 0, &view, nullptr), TONARI_ERR_ARGUMENT);
  EXPECT_OK(tonari_request_free(&request));
}

// As where an exception leaves a scope on one rank.
TEST_F(GroupErrors, AGroupThatIsGivenUp) {
  try {
    tonari::Group group(MPI_COMM_WORLD);
    EXPECT_OK(call(2));
    if (rank == last) throw 1;
    (void)group.end();
    ADD_FAILURE() << "the group was made";
  } catch (const tonari::Failure& failure) {
    EXPECT_EQ(failure.code(), TONARI_ERR_ARGUMENT);
    EXPECT_CONTAINS(failure.what(), "rank " + std::to_string(last) + ": the group was given up");
  } catch (int) {
  }
  expect_usable();
}

// What was wrong before counts, not that its exception left the scope.
TEST_F(GroupErrors, AGroupThatIsGivenUpForAMistake) {
  try {
    tonari::Group group(MPI_COMM_WORLD);
    EXPECT_OK(call(rank == last ? -3 : 2));
    if (rank == last) throw 1;
    (void)group.end();
    ADD_FAILURE() << "the group was made";
  } catch (const tonari::Failure& failure) {
    EXPECT_EQ(failure.code(), TONARI_ERR_ARGUMENT);
    EXPECT_CONTAINS(failure.what(), "in call 0 of the group");
    EXPECT_CONTAINS(failure.what(), "`sendcount` is -3");
  } catch (int) {
    EXPECT_SAID("`sendcount` is -3");
  }
  expect_usable();
}

TEST_F(GroupErrors, NothingIsLeft) {
  MPI_Datatype pairs;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  const auto fail = [&] {
    EXPECT_OK(tonari_group_start(MPI_COMM_WORLD));
    EXPECT_OK(tonari_alltoall_init(send, 1, pairs, recv, 1, pairs, near, MPI_INFO_NULL, nullptr));
    EXPECT_OK(call(rank == last ? -1 : 1, 16));
    EXPECT_EQ(tonari_group_end(quick, &request), TONARI_ERR_ARGUMENT);
  };
  const auto succeed = [&] {
    EXPECT_OK(tonari_group_start(MPI_COMM_WORLD));
    EXPECT_OK(tonari_alltoall_init(send, 1, pairs, recv, 1, pairs, near, MPI_INFO_NULL, nullptr));
    EXPECT_OK(call(1, 32));
    EXPECT_OK(tonari_group_end(quick, &request));
    EXPECT_OK(start_and_wait(request));
    EXPECT_OK(tonari_request_free(&request));
  };
  for (int k = 0; k < 2; ++k) fail(), succeed();
  const Live before = live();
  for (int k = 0; k < 3; ++k) fail(), succeed();
  const Live after = live();
  EXPECT_EQ(after.datatypes, before.datatypes);
  EXPECT_EQ(after.requests, before.requests);
  EXPECT_EQ(after.communicators, before.communicators);
  EXPECT_EQ(after.objects, before.objects);
  MPI_Type_free(&pairs);
}

}  // namespace
