// SPDX-License-Identifier: BSD-3-Clause
// Threads with MPI_THREAD_MULTIPLE: one waits while another one's short exchanges come and go.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "support/oracle.hpp"

namespace {

using namespace tonari::test;

// A ring of all ranks on a communicator of its own. Blocks for the next but one pass through the
// next.
class Ring {
 public:
  explicit Ring(const char* channel) {
    Topology ring = torus_of_all(1);
    ring.offsets = {1, 2, -1};
    MPI_Comm cart = make_cart(ring);
    const Info info{
        {"tonari_algorithm", "torus"}, {"tonari_tune", "off"}, {"tonari_channel", channel}};
    expect_success(tonari_neighborhood_create_cart(cart, 3, ring.offsets.data(), info, &near_));
    MPI_Comm_free(&cart);
    for (Exchange& e : exchanges_)
      expect_success(
          tonari_alltoall_init(e.out, 1, MPI_LONG, e.in, 1, MPI_LONG, near_, info, &e.request));
  }
  ~Ring() {
    for (Exchange& e : exchanges_) expect_success(tonari_request_free(&e.request));
    expect_success(tonari_neighborhood_free(&near_));
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  void start(int which, long salt) {
    Exchange& e = exchanges_[which];
    for (int i = 0; i < 3; ++i) e.out[i] = value(world_rank(), i, salt), e.in[i] = -1;
    expect_success(tonari_start(e.request));
  }
  void wait(int which) { expect_success(tonari_wait(exchanges_[which].request)); }
  void wait_for_both() {
    const tonari_request both[] = {exchanges_[0].request, exchanges_[1].request};
    expect_success(tonari_waitall(2, both));
  }
  bool delivered(int which, long salt) const {
    const int n = world_size(), me = world_rank(), from[] = {me - 1, me - 2, me + 1};
    bool right = true;
    for (int i = 0; i < 3; ++i)
      right = right && exchanges_[which].in[i] == value((from[i] + 2 * n) % n, i, salt);
    return right;
  }

 private:
  static long value(long rank, long block, long salt) { return 1000 * salt + 10 * rank + block; }
  static void expect_success(int code) { EXPECT_OK(code); }

  struct Exchange {
    long out[3] = {}, in[3] = {};
    tonari_request request = TONARI_REQUEST_NULL;
  };
  tonari_neighborhood near_ = TONARI_NEIGHBORHOOD_NULL;
  Exchange exchanges_[2];
};

class Threads : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    int provided = 0;
    MPI_Query_thread(&provided);
    if (provided < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
    if (world_size() == 1) GTEST_SKIP() << "needs two ranks";
  }
};

// On one rank after the other thread A waits for two exchanges that the others start only when
// thread B's are over.
TEST_P(Threads, ShortExchangesBesideOneThatWaits) {
  Ring waited(GetParam()), brief(GetParam());
  const int rounds = mpi_spins() && world_size() > 2 ? 20 : 200;
  for (int early = 0; early < world_size(); ++early) {
    std::thread a;
    const auto begin = [&] { waited.start(0, early), waited.start(1, early + 100); };
    const auto wait = [&, all = early % 2 == 0] {
      if (all) return waited.wait_for_both();
      waited.wait(1), waited.wait(0);
    };
    if (world_rank() == early) begin(), a = std::thread(wait);
    int wrong = 0;
    for (int round = 0; round < rounds; ++round) {
      brief.start(0, round), brief.start(1, -round);
      brief.wait(round % 2), brief.wait(1 - round % 2);
      wrong += !brief.delivered(0, round) + !brief.delivered(1, -round);
    }
    EXPECT_EQ(wrong, 0);
    if (world_rank() == early)
      a.join();
    else
      begin(), wait();
    EXPECT_TRUE(waited.delivered(0, early));
    EXPECT_TRUE(waited.delivered(1, early + 100));
  }
}

// Each rank has two threads that wait for exchanges which other ranks' waiting threads forward, in
// different orders.
TEST_P(Threads, TwoThatWaitForEachOthersRanks) {
  Ring first(GetParam()), second(GetParam());
  const int rounds = mpi_spins() && world_size() > 2 ? 20 : 200;
  const auto exchange = [&](Ring& ring, int order) {
    for (int round = 0; round < rounds; ++round) {
      ring.start(0, round), ring.start(1, round + 1);
      ring.wait(order), ring.wait(1 - order);
      if (!ring.delivered(0, round) || !ring.delivered(1, round + 1))
        ADD_FAILURE() << "round " << round;
    }
  };
  std::thread other(exchange, std::ref(first), world_rank() % 2);
  exchange(second, (world_rank() + 1) % 2);
  other.join();
}

// Of a thread of this process: how often it gave its core away because it slept.
long times_asleep(pid_t thread) {
  std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
  const std::string name = "voluntary_ctxt_switches:";
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return std::stol(line.substr(name.size()));
  return 0;
}

// Messages proceed by tests, so who waits for them goes on with those.
class ThreadsOnANode : public Threads {};

// The others start when thread A of rank 0 has slept often enough; the test never ends if it does
// not sleep.
TEST_P(ThreadsOnANode, WhoWaitsForTwoSleeps) {
  constexpr long often = 50;
  Ring ring(GetParam());
  std::atomic<pid_t> id = 0;
  std::thread a;
  if (world_rank() == 0) {
    ring.start(0, 1), ring.start(1, 2);
    a = std::thread([&] {
      id = ::gettid();
      ring.wait(1), ring.wait(0);
    });
    while (times_asleep(id) < often) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0)
    a.join();
  else
    ring.start(0, 1), ring.start(1, 2), ring.wait_for_both();
  EXPECT_TRUE(ring.delivered(0, 1) && ring.delivered(1, 2));
}

const auto channel_name = [](const auto& channel) {
  return channel.param == std::string("shared") ? "Shared" : "Messages";
};
INSTANTIATE_TEST_SUITE_P(Channel, Threads, testing::Values("shared", "p2p-packed"), channel_name);
INSTANTIATE_TEST_SUITE_P(Channel, ThreadsOnANode, testing::Values("shared"), channel_name);

}  // namespace
