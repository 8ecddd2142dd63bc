// SPDX-License-Identifier: BSD-3-Clause
// Who sends what to whom, and the oracle that says whether it arrived.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace bench::sparse {

using Word = std::uint64_t;

// A message that came.
struct Arrived {
  int source;
  const Word* values;
  std::size_t words;
};

class Workload {
 public:
  // Each rank sends `words` to each of so many random ranks; every rank knows all of them, the
  // exchanges do not.
  Workload(MPI_Comm comm, int targets, std::size_t words, unsigned seed);

  void fill(int turn);
  bool delivered(const std::vector<Arrived>& arrived) const;
  // The source of message k of a rank tells its values.
  const Word* message(std::size_t k) const { return &values[k * words]; }

  MPI_Comm comm;
  int rank = 0, ranks = 0;
  std::size_t words;
  std::vector<int> targets;  // ascending
  std::vector<Word> values;  // one message behind the other

 private:
  std::vector<int> sources_;
  int turn_ = 0;
};

}  // namespace bench::sparse
