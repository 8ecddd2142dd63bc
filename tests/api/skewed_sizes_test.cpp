// SPDX-License-Identifier: BSD-3-Clause
// Blocks of sizes that differ between ranks: each rank prices its own edges, and all choose alike.
#include <numeric>

#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/must.hpp"
#include "support/ok.hpp"
#include "support/one_shot.hpp"

namespace {

using namespace tonari::test;

// Everybody sends to everybody else, ascending.
class SkewedSizes : public testing::Test {
 protected:
  void SetUp() override {
    for (int r = 0; r < ranks; ++r)
      if (r != rank) others.push_back(r);
    const int n = static_cast<int>(others.size());
    ASSERT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, n, others.data(), MPI_UNWEIGHTED,
                                                  n, others.data(), MPI_UNWEIGHTED, MPI_INFO_NULL,
                                                  &near));
    for (const int other : others) {
      out.counts.push_back(count(rank, other)), in.counts.push_back(count(other, rank));
    }
    out.fit(), in.fit();
  }
  void TearDown() override { EXPECT_OK(tonari_neighborhood_free(&near)); }

  // One block is long: that of rank 0 for rank 1.
  static int count(int from, int to) { return from == 0 && to == 1 ? 20000 : 1 + from % 3; }
  static int value(int from, int to, int k) { return 1000 * (7 * from + to) + k % 1000; }

  struct Lists {
    std::vector<int> counts, values;
    std::vector<MPI_Aint> places;
    void fit() {
      places.resize(counts.size());
      std::exclusive_scan(counts.begin(), counts.end(), places.begin(), MPI_Aint{0});
      values.assign(static_cast<std::size_t>(std::reduce(counts.begin(), counts.end())), -1);
    }
  };

  int init(const Info& info) {
    return tonari_alltoallv_init(out.values.data(), out.counts.data(), out.places.data(), MPI_INT,
                                 in.values.data(), in.counts.data(), in.places.data(), MPI_INT,
                                 near, info, &request);
  }
  void expect_right_blocks() {
    for (std::size_t i = 0; i < others.size(); ++i)
      for (int k = 0; k < out.counts[i]; ++k)
        out.values[static_cast<std::size_t>(out.places[i] + k)] = value(rank, others[i], k);
    EXPECT_OK(tonari_start(request));
    EXPECT_OK(tonari_wait(request));
    for (std::size_t j = 0; j < others.size(); ++j)
      for (int k = 0; k < in.counts[j]; ++k)
        ASSERT_EQ(in.values[static_cast<std::size_t>(in.places[j] + k)], value(others[j], rank, k))
            << "from rank " << others[j];
  }

  const FreshWisdom wisdom{"0.02"};
  const int rank = world_rank(), ranks = world_size();
  std::vector<int> others;
  Lists out, in;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  tonari_request request = TONARI_REQUEST_NULL;
};

// The description has the choice and the prices of all candidates, which one agreement or two made
// the same.
TEST_F(SkewedSizes, AllRanksSayTheSamePrices) {
  if (ranks < 2) GTEST_SKIP() << "needs another rank";
  ASSERT_OK(init(Info{{"tonari_tune", "model"}}));
  std::string said = tonari_request_describe(request);
  const auto from = said.find("predicted:");
  ASSERT_NE(from, std::string::npos) << said;
  said.erase(0, from);
  std::string first = said;
  int length = static_cast<int>(first.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  first.resize(static_cast<std::size_t>(length));
  MPI_Bcast(first.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_EQ(said, first);
  expect_right_blocks();
  EXPECT_OK(tonari_request_free(&request));
}

// An init that went by the average had ten, whatever it priced.
TEST_F(SkewedSizes, PricesTakeNoMoreMeetings) {
  if (ranks < 2) GTEST_SKIP() << "needs another rank";
  for (const char* tune : {"off", "model", "off"}) {  // finds out about the machine, and plans
    ASSERT_OK(init(Info{{"tonari_tune", tune}}));
    EXPECT_OK(tonari_request_free(&request));
  }
  const Info off{{"tonari_tune", "off"}, {"tonari_channel", "p2p-packed"}},
      model{{"tonari_tune", "model"}, {"tonari_channel", "p2p-packed"}};
  arm();
  const int unpriced_code = init(off);
  const Counts unpriced = disarm();
  ASSERT_OK(unpriced_code);
  EXPECT_OK(tonari_request_free(&request));
  arm();
  const int priced_code = init(model);
  const Counts priced = disarm();
  ASSERT_OK(priced_code);
  EXPECT_EQ(unpriced.collectives, 7) << "with the load of the busiest rank, in one step";
  EXPECT_LE(priced.collectives, 10) << "prices of variants, and of these on all channels\n"
                                    << tonari_request_describe(request);
  expect_right_blocks();
  EXPECT_OK(tonari_request_free(&request));
}

}  // namespace
