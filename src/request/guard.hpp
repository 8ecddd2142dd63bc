// SPDX-License-Identifier: BSD-3-Clause
// The border between C++ and C: exceptions become codes, and tonari_last_error returns their
// sentences.
#pragma once

#include <mpi.h>

#include "base/error.hpp"
#include "mpi/same_mpi.hpp"

namespace tonari {

// These keep the sentence for this thread and return the code.
int record(const char* sentence, Errc code) noexcept;
int record_current_exception() noexcept;

// Runs `work`, and returns TONARI_SUCCESS or the code of what it threw.
template <class Work>
int guarded(Work&& work) noexcept {
  try {
    work();
    return 0;
  } catch (...) {
    return record_current_exception();
  }
}

// Checks a required argument; `name` is the one that the function declares.
inline void require(const void* pointer, const char* name) {
  if (!pointer) fail(Errc::argument, "`", name, "` is NULL");
}
// Every call that takes a communicator begins with it, before it looks at any handle of MPI.
inline void require_comm(MPI_Comm comm, const char* name) {
  require_same_mpi(comm);
  if (comm == MPI_COMM_NULL) fail(Errc::argument, "`", name, "` is MPI_COMM_NULL");
}

}  // namespace tonari
