// SPDX-License-Identifier: BSD-3-Clause
// The functions whose counts are MPI_Count: they are the others, whichever ranks call which. Blocks
// that need such counts are in tests/large.
#include <tonari/group.h>

#include <climits>
#include <cstring>

#include "api/errors.hpp"
#include "support/counting.hpp"
#include "support/one_shot.hpp"

namespace {

using namespace tonari::test;

class LargeCounts : public testing::Test {
 protected:
  void SetUp() override {
    t = torus_of_all(2);
    t.periods = {1, 0};
    t.offsets = box(2, -1, 1);
    cart = make_cart(t);
    MPI_Comm_rank(cart, &rank);
    ASSERT_OK(
        tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), MPI_INFO_NULL, &near));
  }
  void TearDown() override {
    EXPECT_OK(tonari_neighborhood_free(&near));
    MPI_Comm_free(&cart);
  }
  Buffers buffers(Operation op, unsigned seed) const {
    return random_buffers(op, t.count(), 24, seed);
  }

  int rank = 0;
  Topology t;
  MPI_Comm cart = MPI_COMM_NULL;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
};

// Which ranks call the functions with _c: all, none, or some.
bool takes_large(int who, int rank) { return who == 0 || (who == 2 && rank % 2 == 0); }

TEST_F(LargeCounts, PersistentOneShotAndNonBlocking) {
  for (Operation op : all_operations)
    for (int who : {0, 1, 2, 0}) {
      SCOPED_TRACE(std::string(name(op)) + ", who: " + std::to_string(who));
      Buffers b = buffers(op, 11 + static_cast<unsigned>(who));
      b.out.large_counts = takes_large(who, rank);
      tonari_request request = TONARI_REQUEST_NULL;
      ASSERT_OK(init(op, b.out, b.in, near, MPI_INFO_NULL, &request));
      for (int round = 0; round < 2; ++round) {
        b.prepare(rank, round);
        EXPECT_OK(tonari_start(request));
        EXPECT_OK(tonari_wait(request));
        EXPECT_EQ(b.wrong(t, rank, round), "");
      }
      EXPECT_OK(tonari_request_free(&request));
      b.prepare(rank, 2);
      EXPECT_OK(call(op, b.out, b.in, near));
      EXPECT_EQ(b.wrong(t, rank, 2), "");
      b.prepare(rank, 3);
      EXPECT_OK(icall(op, b.out, b.in, near, &request));
      EXPECT_OK(tonari_wait(request));
      EXPECT_OK(tonari_request_free(&request));
      EXPECT_EQ(b.wrong(t, rank, 3), "");
    }
}

// The same numbers, first as int and then as MPI_Count, in turns: what is remembered of calls tells
// them apart, and reads no int as half of an MPI_Count.
TEST_F(LargeCounts, CallsOfBothKindsInTurns) {
  for (Operation op : all_operations) {
    Buffers b = buffers(op, 5);
    for (int round = 0; round < 6; ++round) {
      b.out.large_counts = (round + rank) % 2 == 0;
      b.prepare(rank, round);
      EXPECT_OK(call(op, b.out, b.in, near));
      EXPECT_EQ(b.wrong(t, rank, round), "") << name(op) << " round " << round;
    }
  }
}

TEST_F(LargeCounts, CallsThatComeAgainAllocateNothingAndAskNobody) {
  if (!counts_allocations()) GTEST_SKIP() << "allocations are not counted";
  Buffers b = buffers(Operation::alltoallv, 9);
  const std::vector<MPI_Count> n(b.out.counts.begin(), b.out.counts.end()),
      m(b.in.counts.begin(), b.in.counts.end());
  const MPI_Aint *from = b.out.displacements.data(), *to = b.in.displacements.data();
  const MPI_Datatype s = b.out.types[0], r = b.in.types[0];
  for (int round = 0; round < 5; ++round) {
    b.prepare(rank, round);
    void *const out = b.out.buffer(), *const in = b.in.buffer();
    arm();
    const int code = tonari_alltoallv_c(out, n.data(), from, s, in, m.data(), to, r, near);
    const auto counted = disarm();
    EXPECT_OK(code);
    EXPECT_EQ(b.wrong(t, rank, round), "");
    if (round == 0) {
      EXPECT_GT(counted.allocations, 0) << "they are not counted";
      continue;
    }
    EXPECT_EQ(counted.allocations, 0) << "round " << round;
    EXPECT_EQ(counted.collectives, 0) << counted.first;
  }
}

TEST_F(LargeCounts, WithBuffersThatArePromisedToStay) {
  const Info info{{"cdag_static_buffers", "true"}};
  EXPECT_OK(tonari_neighborhood_free(&near));
  ASSERT_OK(tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), info, &near));
  for (Operation op : all_operations) {
    Buffers b = buffers(op, 6);
    for (int round = 0; round < 4; ++round) {
      b.out.large_counts = (round + rank) % 2 == 0;
      b.prepare(rank, round);
      EXPECT_OK(call(op, b.out, b.in, near));
      EXPECT_EQ(b.wrong(t, rank, round), "") << name(op) << " round " << round;
    }
  }
}

TEST_F(LargeCounts, InAGroup) {
  Buffers v = buffers(Operation::alltoallv, 7), w = buffers(Operation::allgatherw, 8);
  v.out.large_counts = w.out.large_counts = true;
  ASSERT_OK(tonari_group_start(cart));
  EXPECT_OK(init(v.op, v.out, v.in, near, MPI_INFO_NULL, nullptr));
  EXPECT_OK(init(w.op, w.out, w.in, near, MPI_INFO_NULL, nullptr));
  v.prepare(rank, 0), w.prepare(rank, 1);
  EXPECT_OK(tonari_group_run(MPI_INFO_NULL));
  EXPECT_EQ(v.wrong(t, rank, 0), "");
  EXPECT_EQ(w.wrong(t, rank, 1), "");
}

// ---- in place: rank r has 1 + |r - j| numbers for rank j, and they become those of rank j

class LargeCountsInPlace : public testing::Test {
 protected:
  enum class Way { init, non_blocking, blocking };
  static constexpr Way ways[] = {Way::init, Way::non_blocking, Way::blocking};

  void SetUp() override {
    for (int j = 0; j < ranks; ++j) {
      counts.push_back(1 + std::abs(rank - j));
      places.push_back(total);
      bytes.push_back(static_cast<MPI_Aint>(sizeof(int)) * total);
      total += counts.back() + 1;  // a gap
    }
  }
  int number(int from, int to, int k) const { return 1000 * from + 100 * to + k; }
  std::vector<int> content(bool after) const {
    std::vector<int> all(static_cast<std::size_t>(total), -1);
    for (int j = 0; j < ranks; ++j)
      for (int k = 0; k < counts[static_cast<std::size_t>(j)]; ++k)
        all[static_cast<std::size_t>(places[static_cast<std::size_t>(j)] + k)] =
            after ? number(j, rank, k) : number(rank, j, k);
    return all;
  }

  // make(request), begin(request), run(): the three forms.
  template <class Make, class Begin, class Run>
  static void in_way(Way way, Make make, Begin begin, Run run) {
    tonari_request request = TONARI_REQUEST_NULL;
    if (way == Way::blocking) {
      EXPECT_OK(run());
      return;
    }
    if (way == Way::non_blocking) {
      EXPECT_OK(begin(&request));
    } else {
      ASSERT_OK(make(&request));
      EXPECT_OK(tonari_start(request));
    }
    EXPECT_OK(tonari_wait(request));
    EXPECT_OK(tonari_request_free(&request));
  }

  int rank = world_rank(), ranks = world_size(), total = 0;
  std::vector<int> counts;
  std::vector<MPI_Aint> places, bytes;
  const MPI_Comm comm = MPI_COMM_WORLD;
};

TEST_F(LargeCountsInPlace, Regular) {
  for (Way way : ways) {
    std::vector<int> buf, want;
    for (int j = 0; j < ranks; ++j)
      for (int k = 0; k < 3; ++k)
        buf.push_back(number(rank, j, k)), want.push_back(number(j, rank, k));
    const MPI_Count n = 3;
    in_way(
        way,
        [&](tonari_request* made) {
          return rank % 2 ? tonari_alltoall_inplace_init(buf.data(), 3, MPI_INT, comm,
                                                         MPI_INFO_NULL, made)
                          : tonari_alltoall_inplace_init_c(buf.data(), n, MPI_INT, comm,
                                                           MPI_INFO_NULL, made);
        },
        [&](tonari_request* begun) {
          return tonari_ialltoall_inplace_c(buf.data(), n, MPI_INT, comm, MPI_INFO_NULL, begun);
        },
        [&] { return tonari_alltoall_inplace_c(buf.data(), n, MPI_INT, comm, MPI_INFO_NULL); });
    EXPECT_EQ(buf, want);
  }
}

TEST_F(LargeCountsInPlace, EachBlockOfItsSize) {
  const std::vector<MPI_Count> wide(counts.begin(), counts.end());
  const std::vector<MPI_Datatype> types(static_cast<std::size_t>(ranks), MPI_INT);
  const MPI_Count* const n = wide.data();
  const MPI_Aint *const at = places.data(), *const from = bytes.data();
  for (Way way : ways)
    for (bool w : {false, true}) {
      std::vector<int> buf = content(false);
      void* const b = buf.data();
      in_way(
          way,
          [&](tonari_request* made) {
            return w ? tonari_alltoallw_inplace_init_c(b, n, from, types.data(), comm,
                                                       MPI_INFO_NULL, made)
                     : tonari_alltoallv_inplace_init_c(b, n, at, MPI_INT, comm, MPI_INFO_NULL,
                                                       made);
          },
          [&](tonari_request* begun) {
            return w ? tonari_ialltoallw_inplace_c(b, n, from, types.data(), comm, MPI_INFO_NULL,
                                                   begun)
                     : tonari_ialltoallv_inplace_c(b, n, at, MPI_INT, comm, MPI_INFO_NULL, begun);
          },
          [&] {
            return w ? tonari_alltoallw_inplace_c(b, n, from, types.data(), comm, MPI_INFO_NULL)
                     : tonari_alltoallv_inplace_c(b, n, at, MPI_INT, comm, MPI_INFO_NULL);
          });
      EXPECT_EQ(buf, content(true));
    }
}

// What is received lies in the opposite order of what was sent.
TEST_F(LargeCountsInPlace, General) {
  std::vector<MPI_Count> wide(counts.begin(), counts.end());
  std::vector<MPI_Aint> back(static_cast<std::size_t>(ranks));
  std::vector<int> want(static_cast<std::size_t>(total), 0);
  for (int j = ranks - 1, at = 0; j >= 0; --j) {
    back[static_cast<std::size_t>(j)] = at;
    for (int k = 0; k < counts[static_cast<std::size_t>(j)]; ++k)
      want[static_cast<std::size_t>(at++)] = number(j, rank, k);
  }
  const MPI_Count* const n = wide.data();
  for (Way way : ways) {
    std::vector<int> buf = content(false);
    void* const b = buf.data();
    in_way(
        way,
        [&](tonari_request* made) {
          return tonari_alltoallv_inplace_general_init_c(b, n, places.data(), n, back.data(),
                                                         MPI_INT, comm, MPI_INFO_NULL, made);
        },
        [&](tonari_request* begun) {
          return tonari_ialltoallv_inplace_general_c(b, n, places.data(), n, back.data(), MPI_INT,
                                                     comm, MPI_INFO_NULL, begun);
        },
        [&] {
          return tonari_alltoallv_inplace_general_c(b, n, places.data(), n, back.data(), MPI_INT,
                                                    comm, MPI_INFO_NULL);
        });
    for (int j = 0; j < ranks; ++j)
      for (int k = 0; k < counts[static_cast<std::size_t>(j)]; ++k) {
        const auto at = static_cast<std::size_t>(back[static_cast<std::size_t>(j)] + k);
        EXPECT_EQ(buf[at], want[at]) << "from " << j;
      }
  }
}

// ---- wrong arguments

class LargeCountErrors : public Errors {};

TEST_F(LargeCountErrors, NegativeCounts) {
  const bool errs = rank == last;
  tonari_request out = TONARI_REQUEST_NULL;
  // its lower half is 0
  const MPI_Count bad = errs ? -4'294'967'296 : 2;
  expect_everywhere(tonari_alltoall_init_c(send, bad, MPI_INT, recv, 2, MPI_INT, near, quick, &out),
                    TONARI_ERR_ARGUMENT, {"`sendcount` is -4294967296", "must not be negative"});
  const MPI_Count counts[4] = {1, 1, bad, 1}, ones[4] = {1, 1, 1, 1};
  const MPI_Aint at[4] = {0, 4, 8, 12};
  expect_everywhere(tonari_alltoallv_init_c(send, ones, at, MPI_INT, recv, errs ? counts : ones, at,
                                            MPI_INT, near, quick, &out),
                    TONARI_ERR_ARGUMENT, {"`recvcounts[2]` is -4294967296"});
  expect_everywhere(tonari_alltoall_inplace_c(recv, errs ? bad : 1, MPI_INT, MPI_COMM_WORLD, quick),
                    TONARI_ERR_ARGUMENT, {"`count` is -4294967296"});
  EXPECT_EQ(out, TONARI_REQUEST_NULL);
  expect_usable();
}

// In bytes: beyond 64 bits, beyond 2^62, and together beyond all addresses.
TEST_F(LargeCountErrors, TotalsThatDoNotFit) {
  const bool errs = rank == last;
  tonari_request out = TONARI_REQUEST_NULL;
  for (const MPI_Count huge :
       {MPI_Count{LLONG_MAX}, MPI_Count{1} << 61, (MPI_Count{1} << 62) - 1}) {
    expect_everywhere(
        tonari_alltoall_init_c(send, 1, MPI_INT, recv, errs ? huge : 1, MPI_INT, near, quick, &out),
        TONARI_ERR_OVERFLOW, {"does not fit"});
    const MPI_Count ones[4] = {1, 1, 1, 1}, large[4] = {1, 1, 1, errs ? huge : 1};
    const MPI_Aint at[4] = {0, 4, 8, 12};
    const MPI_Datatype ints[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    expect_everywhere(
        tonari_alltoallw_init_c(send, large, at, ints, recv, ones, at, ints, near, quick, &out),
        TONARI_ERR_OVERFLOW, {"does not fit"});
    expect_everywhere(
        tonari_alltoall_inplace_init_c(recv, errs ? huge : 1, MPI_INT, MPI_COMM_WORLD, quick, &out),
        TONARI_ERR_OVERFLOW, {"does not fit"});
  }
  EXPECT_EQ(out, TONARI_REQUEST_NULL);
  expect_usable();
}

// A count is not cut to its lower half: 2^32 + 1 is not 1.
TEST_F(LargeCountErrors, TheUpperHalfCounts) {
  if (ranks == 1) GTEST_SKIP();  // the block to itself would overlap the other
  tonari_request out = TONARI_REQUEST_NULL;
  const MPI_Count n = rank == last ? (MPI_Count{1} << 32) + 1 : 1;
  MPI_Datatype nothing;  // no bytes lie there
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  EXPECT_OK(tonari_alltoall_init_c(send, n, nothing, recv, n, nothing, near, quick, &out));
  EXPECT_OK(tonari_request_free(&out));
  MPI_Type_free(&nothing);
  MPI_Datatype still;  // all elements in one place; they may be sent, not received
  MPI_Type_create_resized(MPI_INT, 0, 0, &still);
  MPI_Type_commit(&still);
  const MPI_Count one = 1;
  expect_everywhere(tonari_allgather_init_c(send, n, still, recv, one, MPI_INT, near, quick, &out),
                    TONARI_ERR_MISMATCH, {"17179869188 bytes at the sender"});
  MPI_Type_free(&still);
  EXPECT_EQ(out, TONARI_REQUEST_NULL);
}

}  // namespace
