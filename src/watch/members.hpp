// SPDX-License-Identifier: BSD-3-Clause
// Who the ranks of a communicator are in MPI_COMM_WORLD.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace tonari::watch {

struct Members {
  std::uint64_t id = 0;    // never used again; 0: this communicator is not watched
  std::vector<int> world;  // by rank; MPI_UNDEFINED: a rank of another job
  int ranks() const { return static_cast<int>(world.size()); }
};

// Those of a communicator, until it is freed. Intercommunicators are not watched, nor are more than
// 256 communicators at a time. What a thread asked for last is kept.
const Members& members_of(MPI_Comm comm);

}  // namespace tonari::watch
