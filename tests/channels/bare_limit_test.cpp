// SPDX-License-Identifier: BSD-3-Clause
// Which receives one-shot calls post for messages that repeat, between nodes of one rank each.
#include <gtest/gtest.h>
#include <tonari/tonari.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "channels/streams/mpi_stream.hpp"
#include "faults.hpp"
#include "support/mpi_main.hpp"

namespace tonari {
namespace {

using test::called;

class BareLimit : public testing::Test {
 protected:
  void SetUp() override {
    if (ranks == 1) GTEST_SKIP() << "needs two ranks";
    setenv("TONARI_NODES", "1", 1);
    const int before = (rank + ranks - 1) % ranks, after = (rank + 1) % ranks;
    neighbors = {after};
    if (before != after) neighbors.push_back(before);
    const int count = static_cast<int>(neighbors.size());
    ASSERT_EQ(
        tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, count, neighbors.data(), nullptr, count,
                                            neighbors.data(), nullptr, MPI_INFO_NULL, &near),
        TONARI_SUCCESS)
        << tonari_last_error();
  }
  void TearDown() override {
    tonari_neighborhood_free(&near);
    unsetenv("TONARI_NODES");
  }
  // What a block repeats.
  using Period = std::array<unsigned char, 241>;
  static Period period(int from, int to, int round) {
    Period bytes;
    for (std::size_t k = 0; k < bytes.size(); ++k)
      bytes[k] = static_cast<unsigned char>(101 * from + 59 * to + 7 * round + static_cast<int>(k));
    return bytes;
  }
  static void fill(unsigned char* at, std::size_t bytes, const Period& period) {
    for (std::size_t k = 0; k < bytes; k += period.size())
      std::copy_n(period.begin(), std::min(period.size(), bytes - k), at + k);
  }
  static bool holds(const unsigned char* at, std::size_t bytes, const Period& period) {
    for (std::size_t k = 0; k < bytes; k += period.size())
      if (!std::equal(at + k, at + k + std::min(period.size(), bytes - k), period.begin()))
        return false;
    return true;
  }
  void exchange(std::size_t bytes, int rounds) {
    std::vector<unsigned char> out(bytes * neighbors.size()), in(out.size());
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t n = 0; n < neighbors.size(); ++n)
        fill(&out[n * bytes], bytes, period(rank, neighbors[n], round));
      std::fill(in.begin(), in.end(), static_cast<unsigned char>(0));
      const int each = static_cast<int>(bytes);
      ASSERT_EQ(tonari_alltoall(out.data(), each, MPI_BYTE, in.data(), each, MPI_BYTE, near),
                TONARI_SUCCESS)
          << tonari_last_error();
      for (std::size_t n = 0; n < neighbors.size(); ++n)
        EXPECT_TRUE(holds(&in[n * bytes], bytes, period(neighbors[n], rank, round)))
            << "in round " << round << " of " << bytes << " bytes, from " << neighbors[n];
    }
  }
  int rank = test::world_rank(), ranks = test::world_size();
  std::vector<int> neighbors;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
};

TEST_F(BareLimit, ReceiversKnowIt) {
  constexpr auto longest_part = static_cast<int>(later_part);
  called().longest_receive = 0;
  exchange(most_bare + 4096, 5);
  EXPECT_LE(called().longest_receive, longest_part);
  exchange(2 * later_part, 5);
  EXPECT_EQ(called().longest_receive, 2 * longest_part) << "no message came bare";
}

}  // namespace
}  // namespace tonari
