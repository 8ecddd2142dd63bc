// SPDX-License-Identifier: BSD-3-Clause
// One pattern, by the MPI's messages and by tonari in turns.
#pragma once

#include <mpi.h>

#include "preload/watch/replay.hpp"

namespace tonari::watch {

// Collective over comm, which has the ranks of MPI_COMM_WORLD and returns errors. pattern: null if
// this rank has none. collective: compare with MPI_Alltoallv, if all ranks say so that have one.
Replay replayed(const Pattern* pattern, bool collective, MPI_Comm comm);

}  // namespace tonari::watch
