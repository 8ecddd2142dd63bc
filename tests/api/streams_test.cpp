// SPDX-License-Identifier: BSD-3-Clause
// One-shot calls that nothing is forced for go by streams: they deliver on any graph, through
// shared memory and through the MPI, however many are in flight; and what is wrong is heard by
// those who exchange with the rank that is wrong, while all others go on.
#include <unistd.h>

#include "support/graph_one_shots.hpp"

namespace {

using namespace tonari::test;

// After how many calls ranks connect.
class Streams : public testing::TestWithParam<const char*>, protected GraphOneShots {
 protected:
  void TearDown() override { EXPECT_OK(tonari_neighborhood_free(&near)); }

  void make(const Graph& of_all) { make_on(of_all, GetParam()); }
  // Whether an edge leads from here to there, or back.
  bool hears(int other) const {
    const auto lists = [&](const std::vector<int>& list) {
      return std::find(list.begin(), list.end(), other) != list.end();
    };
    return rank == other || lists(graph.of[rank].sources) || lists(graph.of[rank].targets);
  }
  // A ring of one block each way, of two to the right.
  static Graph ring() {
    Edges edges;
    const int n = world_size();
    for (int r = 0; r < n; ++r)
      edges.emplace_back(r, (r + 1) % n), edges.emplace_back(r, (r + n - 1) % n),
          edges.emplace_back(r, (r + 1) % n);
    return make_graph(n, edges);
  }
  static bool contains(const std::string& words) {
    return std::string(tonari_last_error()).find(words) != std::string::npos;
  }

  int last = world_size() - 1;
  Nodes nodes;
};

TEST_P(Streams, RandomExchangesOnRandomGraphs) {
  constexpr std::uint32_t seed = 41;
  for (int k = 0; k < std::min(cases(60), 60); ++k) {
    Random common(seed + 100u * static_cast<unsigned>(k));
    const Split& split = splits[pick(common, 0, static_cast<int>(std::size(splits)) - 1)];
    SCOPED_TRACE(testing::Message()
                 << "seed " << seed << ", case " << k << ", nodes " << split.text);
    Nodes::set(split.text);
    make(random_graph(common, ranks));
    std::vector<Buffers> all;
    for (int n = 0; n < 6; ++n) {
      const Operation op = all_operations[pick(common, 0, 5)];
      all.push_back(random(common, op, random_sizes(common, op, true)));
    }
    for (int round = 0; round < 3; ++round)
      for (Buffers& b : all) blocking(b, round);
    std::vector<std::size_t> order{0, 1, 2, 3, 4, 5};
    for (int round = 3; round < 6; ++round) {
      std::vector<tonari_request> requests;
      for (Buffers& b : all) requests.push_back(begin(b, round));
      Random mine(common() + static_cast<unsigned>(rank));
      std::shuffle(order.begin(), order.end(), mine);
      for (std::size_t n : order) finish(all[n], requests[n], round, (rank + round) % 2);
    }
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
}

TEST_P(Streams, LongMessagesTravelInParts) {
  if (mpi_spins() && ranks_are_slow()) GTEST_SKIP() << "slow where ranks outnumber the cores";
  for (const char* text : {"", "1"}) {
    if (*text && std::string(GetParam()) != "0") continue;  // there is nothing to connect
    Nodes::set(text);
    make(ring());
    Random common(7);
    for (const int ints : {4'000, 20'000, 100'000, 300'000})
      for (const Operation op :
           {Operation::alltoallv, Operation::alltoallw, Operation::allgatherv}) {
        // only the MPI's streams have parts of a megabyte
        if (ints > 100'000 && (!*text || op == Operation::alltoallv)) continue;
        Buffers b = random(common, op, {4, ints, gathers(op), false, 5});
        for (int round = 0; round < 2; ++round) blocking(b, round);
        tonari_request request = begin(b, 2);
        Buffers other = random(common, op, {4, ints / 2, gathers(op), false, 6});
        blocking(other, 3);
        finish(b, request, 2, rank % 2);
      }
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
}

// Which way a message takes is tried in the first calls: in parts, or read where it lies. What is
// received here has more pieces than the system reads in one call.
TEST_P(Streams, LongMessagesAreTriedBothWays) {
  if (mpi_spins() && ranks_are_slow()) GTEST_SKIP() << "slow where ranks outnumber the cores";
  Edges edges;
  for (int r = 0; r < ranks; ++r) edges.emplace_back(r, (r + 1) % ranks);
  make(make_graph(ranks, edges));
  const int before = (rank + ranks - 1) % ranks;
  for (const int items : {3'000, 12'000, 60'000, 300'000}) {
    MPI_Datatype every_other;
    MPI_Type_vector(items, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    std::vector<int> out(items), in(2 * items);
    for (int round = 0; round < 24; ++round) {
      for (int k = 0; k < items; ++k) out[k] = rank + 100 * round + 10'000 * k;
      std::fill(in.begin(), in.end(), -1);
      if (round % 4 < 3) {
        EXPECT_OK(tonari_alltoall(&out[0], items, MPI_INT, &in[0], 1, every_other, near));
      } else {
        tonari_request request = TONARI_REQUEST_NULL;
        EXPECT_OK(
            tonari_ialltoall(&out[0], items, MPI_INT, &in[0], 1, every_other, near, &request));
        EXPECT_OK(complete(request, rank % 2));
        EXPECT_OK(tonari_request_free(&request));
      }
      int wrong = 0;
      for (int k = 0; k < items; ++k)
        wrong += in[2 * k] != before + 100 * round + 10'000 * k || in[2 * k + 1] != -1;
      EXPECT_EQ(wrong, 0) << "of " << items << " in round " << round;
    }
    MPI_Type_free(&every_other);
  }
}

// Buffers of one shape anywhere, also where blocks of both lie between each other.
TEST_P(Streams, TheSameShapeOnOtherBuffers) {
  Edges edges;
  for (int r = 0; r < ranks; ++r) edges.emplace_back(r, (r + 1) % ranks);
  make(make_graph(ranks, edges));
  std::vector<int> memory(64);
  MPI_Datatype columns;
  MPI_Type_vector(4, 1, 4, MPI_INT, &columns);
  MPI_Type_commit(&columns);
  const int before = (rank + ranks - 1) % ranks;
  const auto exchange = [&](int from, int to) {
    for (int k = 0; k < 64; ++k) memory[k] = 100 * rank + k;
    return tonari_alltoall(&memory[from], 1, columns, &memory[to], 1, columns, near);
  };
  for (const auto& [from, to] : {std::pair{0, 1}, {0, 30}, {2, 5}, {30, 1}, {0, 1}, {3, 1}}) {
    EXPECT_OK(exchange(from, to));
    for (int k = 0; k < 64; ++k) {
      const bool received = k >= to && (k - to) % 4 == 0 && (k - to) / 4 < 4;
      EXPECT_EQ(memory[k], received ? 100 * before + k - to + from : 100 * rank + k);
    }
  }
  EXPECT_EQ(exchange(0, 4), TONARI_ERR_BUFFERS) << "every rank is wrong";
  EXPECT_EQ(tonari_alltoall(nullptr, 1, columns, &memory[0], 1, columns, near),
            TONARI_ERR_ARGUMENT);
  EXPECT_OK(exchange(0, 1));
  MPI_Type_free(&columns);
}

TEST_P(Streams, ARequestTellsOfItself) {
  make(ring());
  Random common(5);
  Buffers b = random(common, Operation::alltoall, {4, 1, true, false, 1});
  tonari_request request = begin(b, 0);
  tonari_request_info info;
  EXPECT_OK(tonari_request_get_info(request, &info));
  EXPECT_STREQ(info.algorithm, "linear");
  EXPECT_STREQ(info.reason, "fixed rule");
  EXPECT_EQ(info.messages, std::min(ranks - 1, 2));
  EXPECT_NE(std::string(tonari_request_describe(request)).find("one-shot"), std::string::npos);
  const void* view = nullptr;
  MPI_Count bytes = 0;
  EXPECT_OK(tonari_wait(request));
  EXPECT_OK(tonari_request_recv_view(request, 1, &view, &bytes));
  EXPECT_EQ(bytes, 4);
  EXPECT_OK(tonari_request_free(&request));
}

// Ranks free one of several neighborhoods when they like: exchanges begun on it go on,
// and so do others.
TEST_P(Streams, FreedWhileOthersGoOn) {
  for (const char* text : {"", "1"}) {
    Nodes::set(text);
    make(ring());
    const tonari_neighborhood kept = near;
    Random common(9);
    Buffers on_kept = random(common, Operation::alltoallv, {4, 3, true, false, 1}),
            on_freed = random(common, Operation::alltoallv, {4, 3'000, true, false, 2});
    blocking(on_kept, 0);
    for (int round = 1; round < 8; ++round) {
      near = TONARI_NEIGHBORHOOD_NULL;
      make(ring());
      blocking(on_freed, round);
      tonari_request going_on = begin(on_freed, round + 1);
      EXPECT_OK(tonari_neighborhood_free(&near));
      near = kept;
      if ((rank + round) % 3 == 0) usleep(2'000);
      blocking(on_kept, round);
      tonari_request other = begin(on_kept, round + 1);
      finish(on_freed, going_on, round + 1, rank % 2);
      finish(on_kept, other, round + 1, round % 2);
    }
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
}

// ---- what is wrong

class StreamErrors : public Streams {
 protected:
  // All are connected after it.
  void well(int round) {
    Random common(3);
    Buffers b = random(common, Operation::alltoallv, {4, 3, true, false, 1});
    blocking(b, round);
  }
  // To whom the last rank's message goes, or from whom one comes to it, hears of its error.
  void expect_heard(int code, int expected, const std::string& words) {
    EXPECT_EQ(code, hears(last) ? expected : TONARI_SUCCESS) << tonari_last_error();
    if (hears(last)) {
      EXPECT_TRUE(contains(words)) << tonari_last_error();
    }
  }
};

TEST_P(StreamErrors, WrongArgumentsOfOneRank) {
  for (const char* text : {"", "1"}) {
    Nodes::set(text);
    make(ring());
    well(0);
    std::vector<int> out(64), in(64);
    const bool errs = rank == last;
    for (int again = 0; again < 6; ++again) {
      expect_heard(tonari_alltoall(out.data(), errs ? -3 : 2, MPI_INT, in.data(), 2, MPI_INT, near),
                   TONARI_ERR_ARGUMENT, "`sendcount` is -3");
      expect_heard(tonari_alltoall(out.data(), 2, MPI_INT, errs ? out.data() + 1 : in.data(), 2,
                                   MPI_INT, near),
                   TONARI_ERR_BUFFERS, "overlap");
      expect_heard(
          tonari_alltoall(errs ? nullptr : out.data(), 2, MPI_INT, in.data(), 2, MPI_INT, near),
          TONARI_ERR_ARGUMENT, "`sendbuf` is NULL");
    }
    tonari_request request = TONARI_REQUEST_NULL;
    const int code = tonari_ialltoall(out.data(), 2, MPI_INT, in.data(), 2, MPI_INT, near,
                                      errs ? nullptr : &request);
    expect_heard(code ? code : tonari_wait(request), TONARI_ERR_ARGUMENT, "`request` is NULL");
    EXPECT_OK(tonari_request_free(&request));
    well(1);
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
}

TEST_P(StreamErrors, SizesThatDifferAreNamedAtBothEnds) {
  if (ranks < 2) GTEST_SKIP() << "needs two ranks";
  for (const char* text : {"", "1"}) {
    Nodes::set(text);
    make(ring());
    well(0);
    std::vector<int> out(64), in(64);
    const MPI_Aint places[] = {0, 16, 32};
    const int right[] = {3, 3, 3};
    for (int k = 0; k < 3; ++k) {
      int counts[] = {3, 3, 3};
      if (rank == last) counts[k] = 5;
      const int code = tonari_alltoallv(out.data(), counts, places, MPI_INT, in.data(), right,
                                        places, MPI_INT, near);
      const int receiver = graph.of[last].targets[k];
      const bool end = rank == last || rank == receiver;
      EXPECT_EQ(code, end ? TONARI_ERR_MISMATCH : TONARI_SUCCESS);
      if (end) {
        EXPECT_TRUE(contains(" from rank " + std::to_string(last) + " to rank " +
                             std::to_string(receiver) +
                             " has 20 bytes at the sender and 12 at the receiver"))
            << tonari_last_error();
      }
      well(k + 1);
    }
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
}

// Long messages that nobody wants are taken out of the way.
TEST_P(StreamErrors, LongMessagesOfAnotherSize) {
  if (ranks < 2) GTEST_SKIP() << "needs two ranks";
  for (const char* text : {"", "1"}) {
    Nodes::set(text);
    make(ring());
    well(0);
    const int n = 200'000;
    std::vector<int> out(3 * n), in(3 * n);
    for (int round = 0; round < 2; ++round) {
      const int code = tonari_alltoall(out.data(), rank == last ? n : n / 2, MPI_INT, in.data(),
                                       n / 2, MPI_INT, near);
      EXPECT_EQ(code, hears(last) ? TONARI_ERR_MISMATCH : TONARI_SUCCESS);
      well(round);
    }
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
}

TEST_P(StreamErrors, AnotherOperation) {
  if (ranks < 2) GTEST_SKIP() << "needs two ranks";
  make(ring());
  well(0);
  std::vector<int> out(64), in(64);
  const int code = rank == last
                       ? tonari_allgather(out.data(), 2, MPI_INT, in.data(), 2, MPI_INT, near)
                       : tonari_alltoall(out.data(), 2, MPI_INT, in.data(), 2, MPI_INT, near);
  expect_heard(code, TONARI_ERR_MISMATCH, "all-to-all where others call an allgather");
  well(1);
}

// Without an edge back the receiver tells the sender, in its next call at the latest if it has come
// by then.
TEST_P(StreamErrors, AlongOneWayEdges) {
  if (ranks < 2) GTEST_SKIP() << "needs two ranks";
  for (const char* text : {"", "1"}) {
    Nodes::set(text);
    make(make_graph(ranks, star(ranks, 0, true)));  // from rank 0 to all others
    well(0);
    std::vector<int> out(64), in(64);
    const auto exchange = [&](int received) {
      return tonari_alltoall(out.data(), 2, MPI_INT, in.data(), received, MPI_INT, near);
    };
    const int code = exchange(rank == last ? 3 : 2);
    if (rank == last) {
      EXPECT_EQ(code, TONARI_ERR_MISMATCH);
      EXPECT_TRUE(contains("block 0 from rank 0 to rank " + std::to_string(last) +
                           " has 8 bytes at the sender and 12 at the receiver"))
          << tonari_last_error();
    } else if (rank > 0) {
      EXPECT_OK(code);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const int next = exchange(2);
    EXPECT_TRUE(rank > 0 ? next == TONARI_SUCCESS
                         : *text || code == TONARI_ERR_MISMATCH || next == TONARI_ERR_MISMATCH)
        << code << ' ' << next;
    MPI_Barrier(MPI_COMM_WORLD);
    const int third = exchange(2);
    EXPECT_TRUE(third == TONARI_SUCCESS || (rank == 0 && *text));
    if (rank == 0) {
      EXPECT_EQ((code != TONARI_SUCCESS) + (next != TONARI_SUCCESS) + (third != TONARI_SUCCESS), 1);
    }
    well(1);
    EXPECT_OK(tonari_neighborhood_free(&near));
  }
}

std::string name_of(const testing::TestParamInfo<const char*>& after) {
  return std::string("After") + after.param;
}
INSTANTIATE_TEST_SUITE_P(Connect, Streams, testing::Values("0", "2", "1000"), name_of);
INSTANTIATE_TEST_SUITE_P(Connect, StreamErrors, testing::Values("0", "2", "1000"), name_of);

}  // namespace
