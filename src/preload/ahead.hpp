// SPDX-License-Identifier: BSD-3-Clause
// Connecting ahead: exchanges that begin may wait for no other rank, so what they need is made when
// the program makes a communicator. Programs that do not use it are soon spared it.
#pragma once

#include "preload/communicator.hpp"

namespace tonari::preload {

// Collective, for a communicator that the program has just made.
void prepare(MPI_Comm comm);

// Collective: makes what exchanges need that may wait for no other rank. Returns tonari's code, an
// error on all ranks or on none; but only those that wait for a dead rank hear TONARI_ERR_PEER.
int connect(Communicator& state);

// Whether an exchange that begins now goes through tonari. The same on all ranks, since it depends
// on what they agreed and on the calls before this one. Local.
bool uses_nonblocking(Communicator& state);

}  // namespace tonari::preload
