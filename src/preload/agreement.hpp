// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a communicator agree on: which of its calls tonari does, and why.
#pragma once

#include "preload/communicator.hpp"

namespace tonari::preload {

// Returns the state of a communicator. Collective at the first call on it: a neighborhood
// collective that blocks may wait for all ranks by MPI's own rules. Never fails; where there is
// nothing that tonari could do, `near` is null on all ranks.
Communicator& state_of(MPI_Comm comm);

// Does the same for calls of a kind: those in place need no neighbors, and ranks agree on them
// apart.
Communicator& state_for(Kind kind, MPI_Comm comm);

// Collective at the first call that blocks on a communicator, local at all others: whether that one
// goes to the MPI, because it may be the only one. Setting up a neighborhood takes as long as
// hundreds of calls.
bool may_be_the_only_call(Kind kind, MPI_Comm comm);

// Collective, once the trials of a kind are over. A neighborhood that no call needs any more ends.
void compare(MPI_Comm comm, Communicator& state, Dispatch& dispatch);

// Local, and the same on all ranks.
bool has_neighborhood(MPI_Comm comm);

// How many neighbors this rank sends to, by what the MPI says. Local.
int targets_of(MPI_Comm comm);

}  // namespace tonari::preload
