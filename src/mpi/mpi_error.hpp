// SPDX-License-Identifier: BSD-3-Clause
// Turns error codes of MPI into errors of tonari.
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

}  // namespace tonari
