// SPDX-License-Identifier: BSD-3-Clause
// MPI's functions: each operation in each of its forms, as far as the MPI has them.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace conformance {

enum class Operation { alltoall, alltoallv, alltoallw, allgather, allgatherv };
enum class Start { blocking, nonblocking, persistent };

struct Call {
  Operation operation;
  Start start;
  bool large;      // counts are MPI_Count
  bool neighbors;  // MPI_Neighbor_alltoall, not MPI_Alltoall

  std::string name() const;
};

// All that this MPI has.
std::vector<Call> all_calls();

inline bool gathers(Operation o) { return o >= Operation::allgather; }
inline bool is_regular(Operation o) {
  return o == Operation::alltoall || o == Operation::allgather;
}

// One side's arguments: of blocks that are alike the count and type, else one of each per block.
struct Arguments {
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_INT64_T;
  std::vector<int> counts, displacements;  // in extents, or in bytes where types differ
  std::vector<MPI_Count> large_counts;
  std::vector<MPI_Aint> large_displacements;
  std::vector<MPI_Datatype> types;
};

// Returns what MPI returns. request: where the call is not blocking; null before a persistent one
// was started.
int make(const Call& call, const Arguments& send, const Arguments& receive, MPI_Comm comm,
         MPI_Request& request);

}  // namespace conformance
