// SPDX-License-Identifier: BSD-3-Clause
// One-shot calls that combine blocks of several ranks into messages (ADR 50): right blocks on
// random tori, few messages, calls in flight in any order, and errors of one rank.
#include <array>
#include <memory>
#include <thread>

#include "support/by_thread.hpp"
#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/graph_exchange.hpp"
#include "support/one_shot.hpp"

namespace {

using namespace tonari::test;

class Hops : public testing::Test {
 protected:
  Hops() { Nodes::set("1"); }  // a node for each rank
  void TearDown() override { free(); }

  void make(const Topology& topology, const char* tune = "off") {
    t = topology;
    cart = make_cart(t);
    MPI_Comm_rank(cart, &rank);
    const Info info{{"tonari_tune", tune}, {"tonari_timeout", "0.2"}};
    ASSERT_OK(tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), info, &near));
  }
  void free() {
    if (cart == MPI_COMM_NULL) return;
    EXPECT_OK(tonari_neighborhood_free(&near));
    MPI_Comm_free(&cart);
  }
  // Many neighbors in few rounds, on any number of ranks from three on.
  static Topology wide() {
    Topology ring = torus_of_all(1);
    const int reach = world_size() >= 7 ? 3 : world_size() >= 5 ? 2 : 1;
    ring.offsets = box(1, -reach, reach);
    return ring;
  }
  static bool wide_combines() { return world_size() >= 5; }

  Buffers buffers(Operation op, int bytes, unsigned seed = 1) const {
    return random_buffers(op, t.count(), bytes, seed);
  }
  void blocking(Buffers& b, int round) {
    b.prepare(rank, round);
    EXPECT_OK(call(b.op, b.out, b.in, near));
    EXPECT_EQ(b.wrong(t, rank, round), "") << name(b.op) << " round " << round;
  }
  tonari_request begin(Buffers& b, int round) {
    tonari_request request = TONARI_REQUEST_NULL;
    b.prepare(rank, round);
    EXPECT_OK(icall(b.op, b.out, b.in, near, &request));
    return request;
  }
  void finish(Buffers& b, tonari_request& request, int round) {
    EXPECT_OK(complete(request, (rank + round) % 2));
    EXPECT_OK(tonari_request_free(&request));
    EXPECT_EQ(b.wrong(t, rank, round), "") << name(b.op) << " round " << round;
  }
  bool combines(Operation op, int bytes) {
    Buffers b = buffers(op, bytes);
    tonari_request request = begin(b, 1);
    tonari_request_info about;
    EXPECT_OK(tonari_request_get_info(request, &about));
    const bool does = std::string(about.algorithm) != "linear";
    finish(b, request, 1);
    return does;
  }
  long sends(Buffers& b, int round) {
    b.prepare(rank, round);
    arm();
    const int code = call(b.op, b.out, b.in, near);
    const long count = disarm().sends;
    EXPECT_OK(code);
    EXPECT_EQ(b.wrong(t, rank, round), "");
    return count;
  }
  int integers(int count, int given) {
    std::vector<int> out(static_cast<std::size_t>(t.count() * count)), in(out);
    return tonari_alltoall(out.data(), given, MPI_INT, in.data(), given, MPI_INT, near);
  }

  Nodes nodes;
  int rank = 0, last = world_size() - 1;
  Topology t;
  MPI_Comm cart = MPI_COMM_NULL;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
};

TEST_F(Hops, RandomTori) {
  int combined = 0;
  constexpr Operation regular[] = {Operation::alltoall, Operation::allgather};
  for (unsigned k = 0; k < 12; ++k) {
    Random common(41 + k);
    Topology torus = torus_of_all(pick(common, 1, 3));
    for (int& period : torus.periods) period = pick(common, 0, 3) > 0;
    const int d = torus.dimensions();
    torus.offsets = k % 3 == 0 ? wide().offsets : box(d, -1, 1);
    if (k % 3 == 0) torus = wide();
    for (int more = pick(common, 0, 2); more > 0; --more)
      for (int j = 0; j < torus.dimensions(); ++j) torus.offsets.push_back(pick(common, -2, 2));
    SCOPED_TRACE(testing::Message() << "case " << k);
    make(torus);
    std::vector<Buffers> all;
    for (const Operation op : all_operations) all.push_back(buffers(op, 4 * pick(common, 1, 300)));
    for (int n = 0; n < 2; ++n) all.push_back(buffers(regular[n], 4 * pick(common, 1, 40), 7 + k));
    for (int round = 0; round < 2; ++round)
      for (Buffers& b : all) blocking(b, round);
    std::vector<std::size_t> order(all.size());
    for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
    for (int round = 2; round < 4; ++round) {
      std::vector<tonari_request> requests;
      for (Buffers& b : all) requests.push_back(begin(b, round));
      Random mine(common() + static_cast<unsigned>(rank));
      std::shuffle(order.begin(), order.end(), mine);
      for (const std::size_t n : order) finish(all[n], requests[n], round);
    }
    combined += combines(Operation::alltoall, 8) + combines(Operation::allgather, 8);
    free();
  }
  if (wide_combines()) {
    EXPECT_GT(combined, 4);
  }
}

TEST_F(Hops, TheModelAndTheTrialDeliver) {
  for (const char* tune : {"model", "online"}) {
    make(wide(), tune);
    for (const int bytes : {4, 600, 5'000, 20'000}) {
      Buffers b = buffers(Operation::alltoall, bytes), c = buffers(Operation::allgather, bytes);
      for (int round = 0; round < 5; ++round) blocking(b, round), blocking(c, round);
    }
    free();
  }
}

// Sizes may differ between ranks where no chain of edges makes them equal: then nothing combines.
TEST_F(Hops, SizesThatDifferByRightGoStraight) {
  if (world_size() % 2 || world_size() < 4) GTEST_SKIP() << "for an even number of ranks";
  Topology ring = torus_of_all(1);
  ring.offsets = {2, -2, 2};
  make(ring);
  Buffers b = buffers(Operation::alltoall, rank % 2 ? 8 : 3'000);
  for (int round = 0; round < 3; ++round) blocking(b, round);
}

// By a clock that goes on where messages are sent, and those that combine send fewer.
double time_by_messages() {
  static long looks = 0;
  return 1e-6 * static_cast<double>(counted().sends) + 1e-9 * static_cast<double>(++looks);
}

TEST_F(Hops, AreDescribedAsWhatTheyAre) {
  if (!wide_combines()) GTEST_SKIP() << "for at least five ranks";
  const FreshWisdom wisdom("0.02");
  std::string described[2];
  for (const bool known : {false, true}) {
    make(wide(), "online");
    Buffers b = buffers(Operation::alltoall, 8);
    {
      const OtherClock clock(time_by_messages);
      arm();
      blocking(b, 1);  // connects, and tries
      disarm();
    }
    tonari_request request = begin(b, 2);
    tonari_request_info about;
    EXPECT_OK(tonari_request_get_info(request, &about));
    EXPECT_STREQ(about.reason, known ? "wisdom" : "measured");
    described[known] = tonari_request_describe(request);
    finish(b, request, 2);
    EXPECT_CONTAINS(described[known], "short blocks of several ranks combined into messages");
    EXPECT_EQ(described[known].find("all blocks for one rank"), std::string::npos);
    EXPECT_EQ(described[known].find("break-even"), std::string::npos) << described[known];
    Buffers straight = buffers(Operation::alltoallv, 8);
    request = begin(straight, 3);
    EXPECT_CONTAINS(std::string(tonari_request_describe(request)),
                    "all blocks for one rank in one message");
    finish(straight, request, 3);
    free();
  }
}

// What was freed is used again, by other words.
void scribble() {
  std::vector<std::unique_ptr<std::vector<unsigned char>>> all;
  for (std::size_t bytes = 16; bytes <= 4096; bytes += 16)
    for (int k = 0; k < 8; ++k)
      all.push_back(std::make_unique<std::vector<unsigned char>>(bytes, 0xa5));
}

TEST_F(Hops, OutliveTheirNeighborhood) {
  for (const Operation op : {Operation::alltoall, Operation::allgather, Operation::alltoallv}) {
    make(wide());
    Buffers b = buffers(op, 8), other = buffers(op, 12);
    blocking(b, 1), blocking(other, 1);
    if (rank == last) MPI_Barrier(MPI_COMM_WORLD);
    tonari_request request = begin(b, 2), second = begin(other, 2);
    EXPECT_OK(tonari_neighborhood_free(&near));
    scribble();
    if (rank != last) MPI_Barrier(MPI_COMM_WORLD);
    finish(b, request, 2), finish(other, second, 2);
    MPI_Comm_free(&cart);
  }
}

// Within a node a stream has room for few messages, and nobody takes any yet.
TEST_F(Hops, WhatCannotLeaveIsToldOf) {
  if (!wide_combines()) GTEST_SKIP() << "for at least five ranks";
  Nodes::set("1," + std::to_string(last));
  make(wide());
  ASSERT_TRUE(everywhere(combines(Operation::alltoall, 8)));
  constexpr int many = 8;
  const bool hurries = rank == world_size() / 2;
  std::vector<Buffers> all;
  std::vector<tonari_request> requests;
  for (int k = 0; k < many; ++k) all.push_back(buffers(Operation::alltoall, 8));
  if (!hurries) MPI_Barrier(MPI_COMM_WORLD);
  for (int k = 0; k < many; ++k) requests.push_back(begin(all[k], k));
  if (hurries) {
    const std::string described = tonari_request_describe(requests.back());
    EXPECT_CONTAINS(described, "until rank ");
    EXPECT_CONTAINS(described, " takes a message");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int k = 0; k < many; ++k) finish(all[k], requests[k], k);
}

// ---- long blocks that go straight

TEST_F(Hops, LongMessagesThatRepeatNeedOneSendEach) {
  if (world_size() < 3) GTEST_SKIP() << "for at least three ranks";
  Topology ring = torus_of_all(1);
  ring.offsets = {1, -1};
  make(ring);
  Buffers b{Operation::alltoall,
            regular_side(*std::make_unique<Random>(1), Style::plain, 2, 200'000),
            regular_side(*std::make_unique<Random>(1), Style::plain, 2, 200'000),
            {}};
  EXPECT_OK(integers(1, 1));      // connects
  EXPECT_EQ(sends(b, 0), 2 * 2);  // what fits, and the rest
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 1; round < 3; ++round) sends(b, round), MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 3; round < 8; ++round) EXPECT_EQ(sends(b, round), 2) << round;
}

// Other sizes between them, other buffers, gaps, and several in flight.
TEST_F(Hops, LongMessagesThatChange) {
  make(wide());
  std::vector<Buffers> all;
  unsigned seed = 1;
  for (const int bytes : {5'000, 70'000, 5'000, 40})
    for (const Operation op : {Operation::alltoall, Operation::allgather, Operation::alltoallv})
      all.push_back(buffers(op, bytes, ++seed));
  Random common(5);
  for (int round = 0; round < 60; ++round) {
    const int n = pick(common, 0, static_cast<int>(all.size()) - 1);
    for (int again = pick(common, 1, 6); again > 0; --again) blocking(all[n], round + again);
    if (round % 4) continue;
    std::vector<tonari_request> requests;
    for (Buffers& b : all) requests.push_back(begin(b, round));
    for (std::size_t k = all.size(); k-- > 0;) finish(all[k], requests[k], round);
  }
}

// Each of two threads has a neighborhood, and completes what the other began on its own.
TEST_F(Hops, FromTwoThreads) {
  if (!several_threads_may_call_mpi()) GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
  make(wide());
  tonari_neighborhood other = TONARI_NEIGHBORHOOD_NULL;
  const Info info{{"tonari_tune", "off"}};
  ASSERT_OK(tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), info, &other));
  const std::array both{near, other};
  const int rounds = mpi_spins() && world_size() > 2 ? 5 : 40;
  for (const int bytes : {8, 9'000}) {
    std::array all{buffers(Operation::alltoall, bytes, 1), buffers(Operation::alltoall, bytes, 2)};
    std::array wrong{0, 0};
    for (std::size_t n = 0; n < 2; ++n) {  // connects
      all[n].prepare(rank, 0);
      EXPECT_OK(call(all[n].op, all[n].out, all[n].in, both[n]));
    }
    std::array<tonari_request, 2> begun{};
    for (int round = 1; round < rounds; ++round) {
      for (std::size_t n = 0; n < 2; ++n) {
        all[n].prepare(rank, round);
        wrong[n] += icall(all[n].op, all[n].out, all[n].in, both[n], &begun[n]) != 0;
      }
      const auto finish_one = [&](std::size_t n) {
        wrong[n] += tonari_wait(begun[n]) != 0;
        wrong[n] += !all[n].wrong(t, rank, round).empty();
        wrong[n] += tonari_request_free(&begun[n]) != 0;
      };
      std::thread aside(finish_one, (rank + round) % 2);
      finish_one((rank + round + 1) % 2);
      aside.join();
    }
    EXPECT_EQ(wrong, (std::array{0, 0})) << bytes;
  }
  EXPECT_OK(tonari_neighborhood_free(&other));
}

// ---- errors

using HopErrors = Hops;

TEST_F(HopErrors, OneRankIsWrong) {
  make(wide());
  EXPECT_OK(integers(2, 2));
  const bool hears = rank == last || exchanges_with(near, last);
  for (int again = 0; again < 8; ++again) {
    std::vector<int> out(64), in(64);
    const int code = again % 2 ? tonari_alltoall(rank == last ? nullptr : out.data(), 2, MPI_INT,
                                                 in.data(), 2, MPI_INT, near)
                               : tonari_alltoall(out.data(), rank == last ? -3 : 2, MPI_INT,
                                                 in.data(), 2, MPI_INT, near);
    EXPECT_EQ(code, hears ? TONARI_ERR_ARGUMENT : TONARI_SUCCESS) << rank;
    if (hears) {
      EXPECT_SAID(again % 2 ? "`sendbuf` is NULL" : "`sendcount` is -3");
    }
  }
  Buffers b = buffers(Operation::alltoall, 8);
  blocking(b, 1);  // nothing is broken
}

// Neither count says how long its blocks are: it goes the way of the call before.
TEST_F(HopErrors, OneRankCannotBeRead) {
  make(wide());
  const bool hears = rank == last || exchanges_with(near, last);
  Buffers b = buffers(Operation::alltoall, 8);
  for (const int count : {2, 1'000, 2}) {
    EXPECT_OK(integers(count, count));
    for (int again = 0; again < 3; ++again) {
      EXPECT_EQ(integers(count, rank == last ? -1 : count),
                hears ? TONARI_ERR_ARGUMENT : TONARI_SUCCESS);
      if (hears) {
        EXPECT_SAID("`sendcount` is -1");
      }
    }
    // what it could read tells also where it is wrong
    const int other = count == 2 ? 1'000 : 2;
    std::vector<int> out(t.offsets.size() * 1'000), in(out);
    EXPECT_EQ(tonari_alltoall(out.data(), rank == last ? -1 : other, MPI_INT, in.data(), other,
                              MPI_INT, near),
              hears ? TONARI_ERR_ARGUMENT : TONARI_SUCCESS);
    EXPECT_EQ(integers(other, rank == last ? -1 : other),
              hears ? TONARI_ERR_ARGUMENT : TONARI_SUCCESS);
    blocking(b, 1);  // nothing is broken
  }
}

// From each allocation on of a call with blocks of another size.
TEST_F(HopErrors, OneRankHasNoMemory) {
  if (!counts_allocations()) GTEST_SKIP() << "this program's memory is not ours to give";
  make(wide());
  EXPECT_OK(integers(2, 2));
  const bool hears = rank == last || exchanges_with(near, last);
  int count = 3;
  for (const bool blocks : {true, false}) {
    long k = 0;
    for (int reached = 1; reached; ++count) {
      std::vector<int> out(t.offsets.size() * 200), in(out);
      tonari_request request = TONARI_REQUEST_NULL;
      fail_allocation(rank == last ? ++k : 0, false);
      int code = blocks
                     ? tonari_alltoall(out.data(), count, MPI_INT, in.data(), count, MPI_INT, near)
                     : tonari_ialltoall(out.data(), count, MPI_INT, in.data(), count, MPI_INT, near,
                                        &request);
      if (!blocks && code == TONARI_SUCCESS) code = tonari_wait(request);
      reached = rank == last && allocations() >= k;
      fail_allocation(0);
      EXPECT_OK(tonari_request_free(&request));
      MPI_Bcast(&reached, 1, MPI_INT, last, MPI_COMM_WORLD);
      EXPECT_EQ(code, reached && hears ? TONARI_ERR_MEMORY : TONARI_SUCCESS) << k;
      if (!everywhere(!HasFailure())) return;
    }
    if (rank == last) {
      EXPECT_GT(k, 5);
    }
  }
  Buffers b = buffers(Operation::alltoall, 8);
  blocking(b, 1);
}

TEST_F(HopErrors, AllAreWrong) {
  make(wide());
  EXPECT_OK(integers(2, 2));
  EXPECT_EQ(integers(2, -1), TONARI_ERR_ARGUMENT);
  Buffers b = buffers(Operation::allgather, 8);
  blocking(b, 1);
}

// Another size that also combines: who exchanges with that rank hears of both.
TEST_F(HopErrors, OneRankHasAnotherSize) {
  if (!wide_combines()) GTEST_SKIP() << "for at least five ranks";
  make(wide());
  EXPECT_OK(integers(2, 2));
  const bool hears = rank == last || exchanges_with(near, last);
  EXPECT_EQ(integers(3, rank == last ? 3 : 2), hears ? TONARI_ERR_MISMATCH : TONARI_SUCCESS);
  if (hears) {
    EXPECT_SAID("blocks of 12");
  }
  Buffers b = buffers(Operation::alltoall, 8);
  blocking(b, 1);
}

// Some send straight where others combine: all hear of it, now or in the next call, which is the
// last one on the neighborhood.
TEST_F(HopErrors, RanksThatGoDifferentWays) {
  if (!wide_combines()) GTEST_SKIP() << "for at least five ranks";
  for (const bool one_combines : {false, true}) {
    make(wide());
    EXPECT_OK(integers(2, 2));
    constexpr int many = 1'000;
    const bool short_blocks = (rank == last) == one_combines;
    int code = integers(many, short_blocks ? 2 : many);
    if (!code) code = integers(2, 2);
    EXPECT_TRUE(code == TONARI_ERR_MISMATCH || code == TONARI_ERR_PEER) << code;
    EXPECT_EQ(integers(2, 2), TONARI_ERR_PEER);
    MPI_Barrier(MPI_COMM_WORLD);
    free();
  }
}

// ---- messages on the torus of the paper

class Hops27 : public Hops {};

TEST_F(Hops27, SixMessagesInsteadOfTwentySix) {
  if (world_size() != 27) GTEST_SKIP() << "for 27 ranks";
  Topology torus = torus_of_all(3);
  torus.offsets = box(3, -1, 1);
  make(torus);
  Buffers exchanged = buffers(Operation::alltoall, 8), gathered = buffers(Operation::allgather, 8),
          longer = buffers(Operation::alltoall, 2'000);
  for (int round = 0; round < 3; ++round) {
    (void)(round == 0 && (blocking(exchanged, 9), true));  // connects
    EXPECT_EQ(sends(exchanged, round), 6);
    EXPECT_EQ(sends(gathered, round), 6);
    EXPECT_EQ(sends(longer, round), 26);
  }
}

}  // namespace
