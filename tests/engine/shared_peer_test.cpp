// SPDX-License-Identifier: BSD-3-Clause
// After PEER requests can be freed, whatever kind they are of and whatever call said so.
#include <array>
#include <memory>

#include "support/ring_exchange.hpp"

namespace {

using namespace tonari::test;
using Kind = RingExchange::Kind;

class SharedPeer : public testing::TestWithParam<Kind> {
 protected:
  static constexpr int count = 3;
  using Requests = std::array<tonari_request, count>;

  void SetUp() override {
    if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
    if (GetParam() == Kind::planned && world_size() > 2)
      GTEST_SKIP() << "who only sends misses nobody";
    for (std::unique_ptr<RingExchange>& ring : rings_) {
      ring = std::make_unique<RingExchange>(GetParam(), "0.02");
      EXPECT_OK(ring->run(0));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void TearDown() override { MPI_Barrier(MPI_COMM_WORLD); }

  // The last rank leaves the exchanges that the others start. wait: tells of their requests.
  template <class Wait>
  void leave(Wait wait) {
    const bool leaves = world_rank() == world_size() - 1;
    if (!leaves) start_all(), wait(requests());
    for (std::unique_ptr<RingExchange>& ring : rings_)
      EXPECT_OK(tonari_request_free(&ring->request(1)));
  }
  void start_all() {
    for (std::unique_ptr<RingExchange>& ring : rings_) EXPECT_OK(ring->start(1));
  }
  Requests requests() {
    Requests all;
    for (std::size_t k = 0; k < count; ++k) all[k] = rings_[k]->request(1);
    return all;
  }

  std::array<std::unique_ptr<RingExchange>, count> rings_;
};

TEST_P(SharedPeer, ByWait) {
  leave([](const Requests& all) {
    for (const tonari_request request : all) EXPECT_EQ(tonari_wait(request), TONARI_ERR_PEER);
  });
}

TEST_P(SharedPeer, ByTest) {
  leave([](const Requests& all) {
    for (const tonari_request request : all) {
      int flag = 0, code = TONARI_SUCCESS;
      while (!flag && code == TONARI_SUCCESS) code = tonari_test(request, &flag);
      EXPECT_EQ(code, TONARI_ERR_PEER);
    }
  });
}

TEST_P(SharedPeer, ByWaitall) {
  leave([](const Requests& all) { EXPECT_EQ(tonari_waitall(count, all.data()), TONARI_ERR_PEER); });
}

INSTANTIATE_TEST_SUITE_P(SharedKinds, SharedPeer,
                         testing::Values(Kind::shared, Kind::driven, Kind::in_place, Kind::vector,
                                         Kind::planned));

// One of two is left by the last rank; the other is well, and ends well though it could be freed.
TEST(SharedPeers, WhatIsWellCanBeWaitedFor) {
  if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
  RingExchange left(Kind::shared, "0.02"), well(Kind::shared, "10");
  const bool leaves = world_rank() == world_size() - 1;
  if (leaves) {
    EXPECT_OK(tonari_request_free(&left.request(0)));
  } else {
    EXPECT_OK(left.start(0) | well.start(0));
    const tonari_request both[] = {left.request(0), well.request(0)};
    EXPECT_EQ(tonari_waitall(2, both), TONARI_ERR_PEER);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const int code = leaves ? well.run(0) : tonari_wait(well.request(0));
  EXPECT_OK(code);
  EXPECT_EQ(well.wrong(0), 0);
  EXPECT_OK(well.start(1));
  EXPECT_EQ(tonari_request_free(&well.request(1)), TONARI_ERR_ACTIVE) << "what failed is past";
  EXPECT_OK(tonari_wait(well.request(1)));
}

}  // namespace
