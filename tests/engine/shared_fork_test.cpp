// SPDX-License-Identifier: BSD-3-Clause
// A child made by fork() has copies of all objects. That it frees them, or ends by exit(), is
// nobody's business but its own: ranks go on to exchange.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

#include "support/ring_exchange.hpp"

namespace {

using namespace tonari::test;

// Its destructor runs where a child ends by exit().
std::optional<RingExchange>& owner() {
  static std::optional<RingExchange> one;
  return one;
}

void expect_well(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "how the child ended";
}

class SharedFork : public testing::TestWithParam<RingExchange::Kind> {
 protected:
  enum class End { frees, exits };

  static int free_all() {
    int codes = 0;
    owner()->tell_end(&codes);
    owner().reset();
    return codes;
  }
  static void fork_one(End end) {
    std::fflush(nullptr);  // else it prints what this process has printed
    const pid_t child = fork();
    if (child != 0) return expect_well(child);
    alarm(600);  // nothing there can be waited for; a busy machine may take a while
    if (end == End::exits) std::exit(0);
    _exit(free_all());
  }

  // Rank 0 forks between exchanges, and in every other one between start and wait; the others wait
  // for it, and look all the time whether it is there.
  static int run_forking(RingExchange& ring, int round, End end) {
    if (world_rank() != 0) return ring.run(round);
    const bool active = round % 2;
    int code = active ? ring.start(round) : TONARI_SUCCESS;
    if (!HasFailure()) fork_one(end);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    if (code == TONARI_SUCCESS) code = active ? tonari_wait(ring.request(round)) : ring.run(round);
    return code;
  }
};

TEST_P(SharedFork, DoesNotLeaveForItsParent) {
  if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
  SCOPED_TRACE(RingExchange::name(GetParam()));
  for (const End end : {End::frees, End::exits}) {
    RingExchange& ring = owner().emplace(GetParam(), "0.001");
    for (int round = 0; round < 6; ++round) {
      const int code = round < 2 ? ring.run(round) : run_forking(ring, round, end);
      EXPECT_EQ(code, TONARI_SUCCESS) << "round " << round << ": " << tonari_last_error();
      if (!everywhere(code == TONARI_SUCCESS)) break;
      EXPECT_EQ(ring.wrong(round), 0) << "round " << round;
    }
    owner().reset();
  }
}

// What only a rank can do is refused.
TEST(SharedForkRefuses, WhatOnlyARankCanDo) {
  RingExchange& ring = owner().emplace(RingExchange::Kind::shared, "10");
  EXPECT_OK(ring.start(0));
  std::fflush(nullptr);
  if (const pid_t child = fork(); child != 0)
    expect_well(child);
  else
    _exit(world_size() > 1 && tonari_wait(ring.request(0)) != TONARI_ERR_ARGUMENT);
  EXPECT_OK(tonari_wait(ring.request(0)));
  EXPECT_EQ(ring.wrong(0), 0);
  owner().reset();
}

INSTANTIATE_TEST_SUITE_P(SharedKinds, SharedFork, testing::ValuesIn(RingExchange::kinds));

}  // namespace
