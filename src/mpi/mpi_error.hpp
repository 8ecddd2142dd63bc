// SPDX-License-Identifier: BSD-3-Clause
// Calls of MPI, whose error codes become errors of tonari.
#pragma once

#include <mpi.h>

#include <utility>

#include "memory/in_mpi.hpp"

namespace tonari {

// Throws Errc::mpi with the name of the call and what MPI says about the code.
[[noreturn]] void fail_mpi(int code, const char* what);

inline void check_mpi(int code, const char* what) {
  if (code != MPI_SUCCESS) fail_mpi(code, what);
}

// A call that may wait, or is made where ranks wait: it is marked while it lasts.
template <class Call>
void call_mpi(const char* name, Call&& call) {
  int code = MPI_SUCCESS;
  {
    const InMpi in(name);
    code = std::forward<Call>(call)();
  }
  check_mpi(code, name);
}

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
inline int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

// Looks once; meanwhile the MPI may proceed.
inline bool is_complete(MPI_Request& request) {
  int complete = 0;
  call_mpi("MPI_Test", [&] { return MPI_Test(&request, &complete, MPI_STATUS_IGNORE); });
  return complete != 0;
}

}  // namespace tonari
