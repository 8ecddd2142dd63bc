// SPDX-License-Identifier: BSD-3-Clause
// One call of the program, whatever its form: what to do with it, and where it came from.
#pragma once

#include <chrono>

#include "preload/aside.hpp"
#include "preload/communicator.hpp"
#include "preload/interpose.hpp"

namespace tonari::preload {

struct Caller {
  const char* name;  // MPI's
  const void* site;
  Handle comm;

  MPI_Comm communicator() const { return handle_as<MPI_Comm>(comm); }
  // Whether the call goes to the MPI whatever it is.
  bool steps_aside() const {
    return wrong_mpi_runs() || from_tonari(site) || communicator() == MPI_COMM_NULL;
  }
};

// Seconds since some time.
inline double now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

}  // namespace tonari::preload
