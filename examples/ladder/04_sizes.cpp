// SPDX-License-Identifier: BSD-3-Clause
// One idea: every block may have a size of its own (alltoallv).
#include <cstddef>
#include <vector>

#include "verdict.hpp"

namespace {

// Rank r sends r + 1 numbers to the right, and 2 (r + 1) to the left.
bool sizes(int rank, int ranks) {
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  const std::vector<int> targets{right, left}, sources{left, right};
  const auto near = tonari::Neighborhood::adjacent(MPI_COMM_WORLD, sources, targets);

  const std::vector<int> sent{rank + 1, 2 * (rank + 1)}, received{left + 1, 2 * (right + 1)};
  const std::vector<MPI_Aint> from{0, rank + 1}, to{0, left + 1};  // where blocks begin
  const std::vector<int> out(static_cast<std::size_t>(sent[0] + sent[1]), rank);
  std::vector<int> in(static_cast<std::size_t>(received[0] + received[1]), -1);
  tonari::Request swap =
      near.alltoallv_init(out.data(), sent, from, MPI_INT, in.data(), received, to, MPI_INT);
  swap.start();
  swap.wait();

  std::vector<int> wanted(static_cast<std::size_t>(received[0]), left);
  wanted.insert(wanted.end(), static_cast<std::size_t>(received[1]), right);
  return in == wanted;
}

}  // namespace

int main(int argc, char** argv) { return verdict(argc, argv, sizes); }
