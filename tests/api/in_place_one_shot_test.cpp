// SPDX-License-Identifier: BSD-3-Clause
// One-shot calls in place that come again: the exchange is kept, whatever buffer they bring, and
// one agreement is all that ranks ask of each other.
#include "support/counting.hpp"
#include "support/in_place_errors.hpp"

namespace {

using namespace tonari::test;

class InPlaceOnce : public testing::Test {
 protected:
  void SetUp() override { MPI_Comm_dup(MPI_COMM_WORLD, &comm); }
  void TearDown() override { MPI_Comm_free(&comm); }

  // Blocks of as many integers as count(i, j) says, the same for (j, i), with gaps between them.
  struct Buffer {
    Buffer(int ranks, int rank, int most) {
      int at = 1;
      for (int j = 0; j < ranks; ++j) {
        counts.push_back((std::min(rank, j) * 7 + std::max(rank, j) * 3) % most);
        places.push_back(at);
        at += counts.back() + 2;
      }
      values.resize(static_cast<std::size_t>(at));
    }
    int& of(int peer, int k) {
      return values[static_cast<std::size_t>(places[static_cast<std::size_t>(peer)] + k)];
    }
    std::vector<int> counts, values;
    std::vector<MPI_Aint> places;
  };
  static int content(int from, int to, int k, int round) {
    return ((round * 16 + from) * 16 + to) * 100'000 + k;
  }
  void fill(Buffer& b, int round) const {
    std::fill(b.values.begin(), b.values.end(), -1 - rank);
    for (int j = 0; j < ranks; ++j)
      for (int k = 0; k < b.counts[static_cast<std::size_t>(j)]; ++k)
        b.of(j, k) = content(rank, j, k, round);
  }
  std::vector<int> wanted(Buffer b, int round) const {
    for (int j = 0; j < ranks; ++j)
      for (int k = 0; k < b.counts[static_cast<std::size_t>(j)]; ++k)
        b.of(j, k) = content(j, rank, k, round);
    return b.values;
  }
  int run(Buffer& b, MPI_Datatype type, MPI_Info info) const {
    return tonari_alltoallv_inplace(b.values.data(), b.counts.data(), b.places.data(), type, comm,
                                    info);
  }

  int rank = world_rank(), ranks = world_size();
  MPI_Comm comm = MPI_COMM_NULL;
};

TEST_F(InPlaceOnce, CallsThatComeAgainOnAnyBuffer) {
  for (const char* channel : {"auto", "p2p-packed"})
    for (const int most : {5, 3'000, 200'000}) {
      const Info info{{"tonari_channel", channel}};
      Buffer first(ranks, rank, most), second = first;
      for (int round = 0; round < 6; ++round) {
        // ranks need not take the same one of theirs
        Buffer& b = (round + (round > 3 ? rank : 0)) % 2 ? first : second;
        fill(b, round);
        const std::vector<int> right = wanted(b, round);
        arm();
        const int code = run(b, MPI_INT, info);
        const Counts counts = disarm();
        ASSERT_OK(code);
        EXPECT_TRUE(b.values == right) << channel << ", at most " << most << ", round " << round;
        if (round > 0) {
          EXPECT_LE(counts.collectives, 1);
          EXPECT_EQ(counts.setups, 0) << counts.first;
        }
      }
    }
}

// While a request has the exchange, a call makes another.
TEST_F(InPlaceOnce, SeveralInFlight) {
  Buffer a(ranks, rank, 2'000), b = a, c = a;
  for (int round = 0; round < 4; ++round) {
    std::vector<std::vector<int>> right;
    std::vector<tonari_request> requests;
    for (Buffer* const each : {&a, &b, &c}) {
      fill(*each, 3 * round + static_cast<int>(right.size()));
      right.push_back(wanted(*each, 3 * round + static_cast<int>(right.size())));
      ASSERT_OK(tonari_ialltoallv_inplace(each->values.data(), each->counts.data(),
                                          each->places.data(), MPI_INT, comm, MPI_INFO_NULL,
                                          &requests.emplace_back()));
    }
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}, std::size_t{0}})
      EXPECT_OK(tonari_wait(requests[k]));
    for (tonari_request& request : requests) EXPECT_OK(tonari_request_free(&request));
    EXPECT_TRUE(a.values == right[0] && b.values == right[1] && c.values == right[2]);
  }
}

// Types, sizes and budgets that change, also on one rank alone.
TEST_F(InPlaceOnce, WhatChangesIsNoticed) {
  Buffer b(ranks, rank, 900);
  for (int round = 0; round < 8; ++round) {
    MPI_Datatype same;
    MPI_Type_contiguous(1, MPI_INT, &same);
    MPI_Type_commit(&same);
    if (round % 4 == 2) b = Buffer(ranks, rank, 900 + round);
    fill(b, round);
    const std::vector<int> right = wanted(b, round);
    const Info budget{{"tonari_inplace_memory", rank == 0 && round == 5 ? "40000" : "1048576"}};
    ASSERT_OK(run(b, (rank + round) % 3 ? MPI_INT : same, budget));
    EXPECT_TRUE(b.values == right) << "round " << round;
    MPI_Type_free(&same);
  }
}

// An error on one rank is the same on all, moves nothing, and spoils no later call.
TEST_F(InPlaceOnce, ErrorsAfterOnesThatWorked) {
  Buffer b(ranks, rank, 50);
  for (int round = 0; round < 3; ++round) {
    fill(b, round);
    std::vector<int> right = wanted(b, round);
    ASSERT_OK(run(b, MPI_INT, MPI_INFO_NULL));
    EXPECT_TRUE(b.values == right);
    const bool errs = rank == ranks - 1;
    expect_everywhere(
        tonari_alltoallv_inplace(errs ? MPI_IN_PLACE : b.values.data(), b.counts.data(),
                                 b.places.data(), MPI_INT, comm, MPI_INFO_NULL),
        TONARI_ERR_ARGUMENT, {"`buf` is MPI_IN_PLACE"});
    expect_everywhere(tonari_alltoallv_inplace(b.values.data(), errs ? nullptr : b.counts.data(),
                                               b.places.data(), MPI_INT, comm, MPI_INFO_NULL),
                      TONARI_ERR_ARGUMENT, {"NULL"});
    if (ranks > 1) {
      std::vector<int> other = b.counts;
      if (errs) ++other[0];
      expect_everywhere(tonari_alltoallv_inplace(b.values.data(), other.data(), b.places.data(),
                                                 MPI_INT, comm, MPI_INFO_NULL),
                        TONARI_ERR_MISMATCH, {"counts and types must match pairwise"});
    }
    EXPECT_TRUE(b.values == right) << "nothing was moved";
  }
}

}  // namespace
