// SPDX-License-Identifier: BSD-3-Clause
// One idea: for a sparse matrix you give the indices that you need, and no neighbors.
#include <cstddef>
#include <cstdint>
#include <tonari/vector.hpp>
#include <vector>

#include "verdict.hpp"

namespace {

// y = 2 x - the value before - the value N / 2 further on, on a ring of N.
bool ghosts(int rank, int ranks) {
  constexpr std::int64_t rows = 6;  // on each rank
  const std::int64_t all = rows * ranks, first = rows * rank;
  std::vector<std::int64_t> columns;  // that rows need besides their own
  for (std::int64_t row = first; row < first + rows; ++row) {
    columns.push_back((row + all - 1) % all);
    columns.push_back((row + all / 2) % all);
  }
  const auto value = [](std::int64_t index) { return static_cast<double>(index * index); };
  std::vector<double> x, theirs(columns.size());
  for (std::int64_t row = first; row < first + rows; ++row) x.push_back(value(row));

  const tonari::DistributedVector vector(MPI_COMM_WORLD, first, rows, columns);
  tonari::Request fill = vector.forward_init(x, theirs);
  fill.start();
  fill.wait();  // theirs[k] is the value of columns[k]; each came once, however often it is needed

  bool right = true;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double y = 2 * x[k] - theirs[2 * k] - theirs[2 * k + 1];
    right &= y == 2 * value(first + static_cast<std::int64_t>(k)) - value(columns[2 * k]) -
                      value(columns[2 * k + 1]);
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) { return verdict(argc, argv, ghosts); }
