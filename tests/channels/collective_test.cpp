// SPDX-License-Identifier: BSD-3-Clause
// Collective calls that are started and tested bring what those of the MPI bring.
#include "mpi/collective.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/mpi_main.hpp"

namespace {

using namespace tonari::test;

constexpr int words = 3;
std::int64_t word(int from, int to, int k) { return 10'000 * from + 100 * to + k; }

TEST(Collective, BroadcastBringsWhatTheRootHas) {
  for (int root = 0; root < world_size(); ++root) {
    std::vector<std::int64_t> all(words, word(world_rank(), 0, 0));
    tonari::broadcast(all.data(), words, MPI_INT64_T, root, MPI_COMM_WORLD);
    EXPECT_EQ(all, std::vector<std::int64_t>(words, word(root, 0, 0)));
  }
}

TEST(Collective, ReduceAllWorksInPlace) {
  std::vector<std::int64_t> all{world_rank(), -world_rank()};
  tonari::reduce_all(all.data(), 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(all, (std::vector<std::int64_t>{world_size() - 1, 0}));
}

TEST(Collective, GatherAllAndSwapAllPutBlocksInTheOrderOfRanks) {
  const auto ranks = static_cast<std::size_t>(world_size());
  std::vector<std::int64_t> mine, out, gathered(words * ranks, -1), swapped(words * ranks, -1);
  std::vector<std::int64_t> all, theirs;
  for (int r = 0; r < world_size(); ++r)
    for (int k = 0; k < words; ++k) {
      if (r == 0) mine.push_back(word(world_rank(), 0, k));
      out.push_back(word(world_rank(), r, k));
      all.push_back(word(r, 0, k)), theirs.push_back(word(r, world_rank(), k));
    }
  const std::vector<std::int64_t> before = out;
  tonari::gather_all(mine.data(), words, MPI_INT64_T, gathered.data(), MPI_COMM_WORLD);
  tonari::swap_all(out.data(), words, MPI_INT64_T, swapped.data(), MPI_COMM_WORLD);
  EXPECT_EQ(gathered, all);
  EXPECT_EQ(swapped, theirs);
  EXPECT_EQ(out, before);
}

TEST(Collective, NothingIsExchangedToo) {
  tonari::broadcast(nullptr, 0, MPI_INT, 0, MPI_COMM_WORLD);
  tonari::reduce_all(nullptr, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  tonari::barrier(MPI_COMM_WORLD);
}

}  // namespace
