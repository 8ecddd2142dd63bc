// SPDX-License-Identifier: BSD-3-Clause
// One idea: exchanges in a group travel together, with one message per neighbor.
#include <tonari/group.hpp>
#include <vector>

#include "verdict.hpp"

namespace {

// Two fields of different types go to the next rank.
bool group(int rank, int ranks) {
  const std::vector<int> left{(rank + ranks - 1) % ranks}, right{(rank + 1) % ranks};
  const auto near = tonari::Neighborhood::adjacent(MPI_COMM_WORLD, left, right);
  const std::vector<double> heat(8, 0.5 * rank);
  const std::vector<int> kind(3, 7 * rank);
  std::vector<double> their_heat(8, -1);
  std::vector<int> their_kind(3, -1);

  tonari::Group fields(MPI_COMM_WORLD);
  fields.add(near.alltoall_init(heat, their_heat));
  fields.add(near.alltoall_init(kind, their_kind));
  tonari::Request both = fields.end();
  both.start();
  both.wait();
  return their_heat == std::vector<double>(8, 0.5 * left[0]) &&
         their_kind == std::vector<int>(3, 7 * left[0]);
}

}  // namespace

int main(int argc, char** argv) { return verdict(argc, argv, group); }
