// SPDX-License-Identifier: BSD-3-Clause
// One idea: on an irregular graph a rank need only know to whom it sends. tonari finds the sources.
#include <cstddef>
#include <vector>

#include "verdict.hpp"

namespace {

// The parent of a rank in a binary tree, and the next rank; both may be the same one.
std::vector<int> targets_of(int rank, int ranks) {
  const int parent = rank / 2, next = (rank + 1) % ranks;
  return parent == next ? std::vector<int>{parent} : std::vector<int>{parent, next};
}

bool targets(int rank, int ranks) {
  const std::vector<int> to = targets_of(rank, ranks);
  const auto near = tonari::Neighborhood::from_destinations(MPI_COMM_WORLD, to);
  const std::vector<int> from = near.sources();
  std::vector<int> out, in(from.size(), -1);
  for (const int target : to) out.push_back(100 * rank + target);
  near.alltoall(out, in);

  std::size_t senders = 0;
  for (int r = 0; r < ranks; ++r)
    for (const int target : targets_of(r, ranks)) senders += target == rank ? 1 : 0;
  bool right = from.size() == senders;
  for (std::size_t k = 0; k < from.size(); ++k) right &= in[k] == 100 * from[k] + rank;
  return right;
}

}  // namespace

int main(int argc, char** argv) { return verdict(argc, argv, targets); }
