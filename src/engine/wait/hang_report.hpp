// SPDX-License-Identifier: BSD-3-Clause
// Tells of waits that last: a line on standard error once nothing has moved for TONARI_HANG_REPORT
// seconds, and again each time that the wait has become twice as long (docs/adr/0035). Everything
// here runs where a rank has waited for a second or more, never while exchanges go well.
#pragma once

#include <mpi.h>

#include <string>

#include "engine/wait/awaited.hpp"

namespace tonari {

// Reads the setting. Throws Errc::argument if it makes no sense.
void read_hang_report();

// TONARI_TIMEOUT, for what has no info keys.
double timeout_in_environment();

// Call this about once a second while a rank waits, with the seconds since anything moved. It shows
// the wait to the other processes of the node, and writes the line if that is due. comm: in which
// ranks are numbered; MPI_COMM_NULL: none.
void tell_of_wait(const Awaited& awaited, MPI_Comm comm, double seconds) noexcept;
// The same for a collective call, which all ranks of the communicator make.
void tell_of_collective(MPI_Comm comm, double seconds) noexcept;
// The same for a call of the MPI that has not returned for so long, by another thread: without a
// call of the MPI. Ranks are those of MPI_COMM_WORLD.
void tell_of_call(const char* call, double seconds) noexcept;

// What it waits for, and what those that it waits for do: "waits for 8 bytes from rank 2; rank 2
// (process 4711, running) is not in tonari".
std::string sentence(const Awaited& awaited);

}  // namespace tonari
