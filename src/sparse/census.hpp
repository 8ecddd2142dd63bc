// SPDX-License-Identifier: BSD-3-Clause
// personalized: each rank learns from a reduction over all ranks how many pieces to expect (the
// personalized census, PCX, of Hoefler 2010). It runs beside the messages and the agreement, so
// nothing waits for anything else; but it has a word for every rank.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "mpi/mpi_error.hpp"
#include "sparse/sparse_message.hpp"

namespace tonari {

class Census {
 public:
  explicit Census(int ranks) : counts_(static_cast<std::size_t>(ranks)) {}

  void clear() { started_ = false; }
  // Collective at the first call after clear().
  void start(MPI_Comm comm, std::span<const SparsePiece> sent) {
    if (std::exchange(started_, true)) return;
    std::ranges::fill(counts_, 0);
    for (const SparsePiece& piece : sent) ++counts_[static_cast<std::size_t>(piece.peer)];
    check_mpi(
        MPI_Ireduce_scatter_block(counts_.data(), &expected_, 1, MPI_INT, MPI_SUM, comm, &request_),
        "MPI_Ireduce_scatter_block");
  }
  // Whether so many are all, as far as ranks count.
  bool all(int received) { return !started_ || (is_complete(request_) && received == expected_); }

 private:
  std::vector<int> counts_;  // for each rank
  int expected_ = 0;
  bool started_ = false;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace tonari
