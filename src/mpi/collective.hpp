// SPDX-License-Identifier: BSD-3-Clause
// Collective calls of the MPI that do not wait inside of it. They are started and tested, so a rank
// that waits tells for whom (docs/adr/0035), and hears if another one has died: then they throw
// Errc::peer. What such a call reads and writes stays where it is, since the MPI still knows it.
//
// They allocate nothing that could fail. Without memory for a copy, the caller's own is used. Then
// nobody gives the call up.
#pragma once

#include <mpi.h>

#include <span>

namespace tonari {

enum class IfOneDies : bool { wait, give_up };

// How calls complete that were started. The engine knows how to tell of a wait; without it they
// complete by MPI_Wait.
using CompleteCall = void (*)(MPI_Comm comm, MPI_Request& request, IfOneDies deaths);
void complete_calls_by(CompleteCall complete);
// comm: the call's. If given up, it throws Errc::peer, and the call stays under way.
void complete_call(MPI_Comm comm, MPI_Request& request, IfOneDies deaths);

// All ranks come here before any leaves.
void barrier(MPI_Comm comm);
// What rank `root` has in `words`.
void broadcast(void* words, int count, MPI_Datatype type, int root, MPI_Comm comm);
// In place.
void reduce_all(void* words, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
// `all` gets `count` elements of each rank, `mine` of this one.
void gather_all(const void* mine, int count, MPI_Datatype type, void* all, MPI_Comm comm);
// `in` gets `count` elements of each rank, which that one has for this rank in `out`.
void swap_all(const void* out, int count, MPI_Datatype type, void* in, MPI_Comm comm);

}  // namespace tonari
