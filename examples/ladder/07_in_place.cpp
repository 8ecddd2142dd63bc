// SPDX-License-Identifier: BSD-3-Clause
// One idea: redistribute data where it lies, without a second buffer. Here a matrix that the ranks
// have by rows is transposed.
#include <cstddef>
#include <vector>

#include "verdict.hpp"

namespace {

bool in_place(int rank, int ranks) {
  std::vector<int> row;  // of the matrix: block r goes to rank r
  for (int column = 0; column < ranks; ++column) row.push_back(100 * rank + column);
  tonari::alltoall_inplace(row, MPI_COMM_WORLD);
  bool right = true;  // block r came from rank r, so this is a column now
  for (int r = 0; r < ranks; ++r) right &= row[static_cast<std::size_t>(r)] == 100 * r + rank;
  return right;
}

}  // namespace

int main(int argc, char** argv) { return verdict(argc, argv, in_place); }
