// SPDX-License-Identifier: BSD-3-Clause
// One call of the program, whatever its form: whether it is any concern of ours, and the time.
#pragma once

#include <chrono>

#include "preload/aside.hpp"
#include "preload/communicator.hpp"
#include "preload/interpose.hpp"

namespace tonari::preload {

// Returns whether the call goes to the MPI whatever it is.
inline bool steps_aside(const void* site, Handle comm) {
  return all_calls_pass() || not_from_program(site) || handle_as<MPI_Comm>(comm) == MPI_COMM_NULL;
}

// Returns the seconds since a fixed time.
inline double now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

}  // namespace tonari::preload
