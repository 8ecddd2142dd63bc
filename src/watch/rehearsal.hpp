// SPDX-License-Identifier: BSD-3-Clause
// One pattern once more, with the sizes that it had.
#pragma once

#include <mpi.h>

#include "watch/measure.hpp"

namespace tonari::watch {

// Collective over comm, which has the ranks of MPI_COMM_WORLD and returns errors. pattern: null if
// this rank has none. collective: compare with MPI_Alltoallv, if all ranks say so that have one.
// seconds: how long it may take, on the first rank.
Replay replayed(const Pattern* pattern, bool collective, double seconds, MPI_Comm comm);

}  // namespace tonari::watch
