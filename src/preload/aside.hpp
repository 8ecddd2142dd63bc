// SPDX-License-Identifier: BSD-3-Clause
// Calls in whose way this library does not stand.
#pragma once

namespace tonari::preload {

// Whether the program runs with another MPI than the one that this library was built for. It is
// said once per job, and all calls go to the program's MPI with the words that they came with.
bool all_calls_pass();

// Whether libtonari makes the call, whose candidate `native` calls the MPI, or this library itself.
// If site is null, a tool does, to which this library has passed the call on.
bool not_from_program(const void* site);

// Whether the MPI itself makes the call, to something else than MPI.
bool from_mpi(const void* site);

}  // namespace tonari::preload
