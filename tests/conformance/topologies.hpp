// SPDX-License-Identifier: BSD-3-Clause
// Communicators with neighbors, and what MPI says about who receives which block.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace conformance {

// One rank's edges, in the order of blocks. Of receive block j: from which rank, and which of
// that rank's blocks it is; rank MPI_PROC_NULL: from nobody.
struct Edges {
  int rank = 0;
  std::vector<int> targets, sources, blocks;
  std::string error;  // of the MPI, when it should have made the communicator; else empty
};

struct Topology {
  const char* name;
  bool short_form;  // in the short form of the suite, too
  bool neighbors;   // or all ranks with all, for MPI_Alltoall and so on
  // Collective over the first argument, which returns its errors. MPI_COMM_NULL on ranks that are
  // left out, and where there is an error.
  MPI_Comm (*make)(MPI_Comm world, Edges& edges);
};

const std::vector<Topology>& all_topologies();

}  // namespace conformance
