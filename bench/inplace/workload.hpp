// SPDX-License-Identifier: BSD-3-Clause
// One rank's blocks of an exchange, and the oracle that says whether they arrived.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "inplace/sizes.hpp"

namespace bench::inplace {

using Word = std::uint64_t;  // the paper's 64-bit integers

// Where block j lies, in words; as ints for MPI and as MPI_Aint for tonari.
struct Blocks {
  std::vector<int> counts, offsets;
  std::vector<MPI_Aint> wide_offsets;
  std::size_t words = 0;
};

class Workload {
 public:
  // Blocks lie one after the other in the order of ranks, what is sent and what is received both
  // from the beginning of the buffer.
  Workload(MPI_Comm comm, const Sizes& sizes, bool symmetric);
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  MPI_Comm comm;
  int rank = 0, ranks = 0;
  Blocks send, recv;
  bool symmetric;  // sizes[i][j] = sizes[j][i], and the exchange is meant so

  Word* data() { return data_.get(); }
  const Word* data() const { return data_.get(); }

  // Each word depends on who has it for whom, and where it stands in its block. fill() writes what
  // this rank has for the others, and poison behind it.
  void fill();
  // [local] recv blocks in `where` are what the others had for this rank
  bool delivered(const Word* where) const;
  // [local] send blocks in data() are what fill() wrote: a symmetric exchange was applied twice
  bool original() const;

  std::size_t bytes_from_others() const;

  // A second buffer as large as the first, for those that need one; it lives as long as one of
  // them.
  std::shared_ptr<Word[]> spare();

 private:
  std::size_t words_;
  std::unique_ptr<Word[]> data_;
  std::weak_ptr<Word[]> spare_;
};

}  // namespace bench::inplace
