// SPDX-License-Identifier: BSD-3-Clause
// The first one-shot calls of a neighborhood connect nothing: ranks meet once, and share no memory.
// The call after them connects, and exchanges that are in flight go on. Meetings are counted at the
// MPI.
#include <dirent.h>

#include "support/counting.hpp"
#include "support/graph_one_shots.hpp"

namespace {

using namespace tonari::test;

// Segments are files of this process, too.
int open_files() {
  DIR* const all = opendir("/proc/self/fd");
  int files = 0;
  for (; readdir(all);) ++files;
  closedir(all);
  return files;
}

class FirstOneShots : public testing::Test, protected GraphOneShots {
 protected:
  void SetUp() override {
    if (ranks < 2) GTEST_SKIP() << "exchanges with another rank";
    Edges edges;
    for (int r = 0; r < ranks; ++r)
      edges.emplace_back(r, (r + 1) % ranks), edges.emplace_back(r, (r + ranks - 1) % ranks);
    ring = make_graph(ranks, edges);
  }
  void TearDown() override { EXPECT_OK(tonari_neighborhood_free(&near)); }

  void make(const char* after) { make_on(ring, after); }
  Buffers buffers(unsigned seed) const {
    Random common(seed);
    return random(common, Operation::alltoallv, {4, 50, true, false, seed});
  }
  int meetings(Buffers& b, int round) {
    arm();
    blocking(b, round);
    return static_cast<int>(disarm().collectives);
  }
  std::string channel_of(tonari_request request) const {
    tonari_request_info info;
    EXPECT_OK(tonari_request_get_info(request, &info));
    return info.channel;
  }

  Graph ring;
};

TEST_F(FirstOneShots, MeetOnceAndThenNoMore) {
  make("3");
  Buffers b = buffers(1);
  const int files = open_files();
  EXPECT_EQ(meetings(b, 0), 1) << "the arguments";
  for (int round : {1, 2}) EXPECT_EQ(meetings(b, round), 0) << round;
  EXPECT_EQ(open_files(), files) << "no memory is shared";
  EXPECT_EQ(meetings(b, 3), 3) << "that all have memory, that they see it, the end";
  EXPECT_EQ(meetings(b, 4), 0);
}

TEST_F(FirstOneShots, ConnectAtOnceIfAsked) {
  make("0");
  Buffers b = buffers(2);
  EXPECT_EQ(meetings(b, 0), 4) << "the arguments, and to connect";
  EXPECT_EQ(meetings(b, 1), 0);
}

// What was begun before ranks connect ends after it, in any order, and says how it goes.
TEST_F(FirstOneShots, GoOnWhileRanksConnect) {
  make("2");
  Buffers first = buffers(3), second = buffers(4), third = buffers(5), fourth = buffers(6);
  tonari_request before = begin(first, 0), also = begin(second, 1);
  EXPECT_EQ(channel_of(before), "p2p-packed");
  tonari_request after = begin(third, 2);
  EXPECT_EQ(channel_of(after), "shared");
  blocking(fourth, 3);
  if (rank % 2) finish(third, after, 2, false);
  finish(second, also, 1, rank % 2);
  finish(first, before, 0, false);
  if (rank % 2 == 0) finish(third, after, 2, true);
}

// A rank whose exchange failed in the middle cannot go on, and says so where all would connect.
TEST_F(FirstOneShots, AnErrorOfOneRankKeepsNobodyWaiting) {
  make("2");
  Buffers b = buffers(7);
  blocking(b, 0);
  std::vector<int> out(256), in(256);
  const bool errs = rank == ranks - 1;
  for (int k = 0; k < 3; ++k) {
    const int code =
        tonari_alltoall(out.data(), errs ? -1 : 2, MPI_INT, in.data(), 2, MPI_INT, near);
    const bool hears = errs || exchanges_with(near, ranks - 1);
    EXPECT_EQ(code, hears ? TONARI_ERR_ARGUMENT : TONARI_SUCCESS) << k << tonari_last_error();
  }
  blocking(b, 1);
}

}  // namespace
