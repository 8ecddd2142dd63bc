// SPDX-License-Identifier: BSD-3-Clause
// One idea: name your neighbors by offsets, and exchange a block with each of them.
#include <vector>

#include "verdict.hpp"

namespace {

bool ring(int rank, int ranks) {
  const int periodic = 1;
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &cart);
  std::vector<int> from_right_and_left(2);
  {
    const std::vector<int> offsets{-1, 1};
    const tonari::Neighborhood near(cart, offsets);
    // Block i goes to the rank at offset i, and comes from the rank at minus offset i.
    const std::vector<int> to_left_and_right{10 * rank, 10 * rank + 1};
    near.alltoall(to_left_and_right, from_right_and_left);
  }
  MPI_Comm_free(&cart);
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  return from_right_and_left == std::vector<int>{10 * right, 10 * left + 1};
}

}  // namespace

int main(int argc, char** argv) { return verdict(argc, argv, ring); }
