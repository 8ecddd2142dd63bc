// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that never end, and those that end the process.
#pragma once

#include <mpi.h>

#include <string>

namespace conformance {

// From now on this is what the rank is doing. If it crashes, or does it for more than twice
// the patience, it says so on standard error and ends, and the job with it.
void watch(const std::string& doing, int patience);

// Polls until the request is complete, or for so many seconds. rc is what MPI returns.
bool completes(MPI_Request& request, int patience, int& rc);

}  // namespace conformance
