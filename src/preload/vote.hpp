// SPDX-License-Identifier: BSD-3-Clause
// What ranks have to agree on before tonari does anything for a communicator: one reduction, in a
// call that may wait for all of them. The least of all ranks' words counts.
#pragma once

#include <mpi.h>

#include <climits>

namespace tonari::preload {

// For one neighborhood more. A rank that cannot attach what was agreed has none at all.
enum Room : int { no_attribute = -1, too_many = 0, enough = 1 };

struct Vote {
  int room = too_many;
  int wants = 0;     // TONARI_PRELOAD; 0: native, 1: auto, 2: tonari
  int repairs = 0;   // TONARI_REPAIR
  int distinct = 1;  // this rank has no neighbor twice
  int balanced = 1;  // it receives no more blocks than it sends
  int drives = 0;    // the MPI calls us while the program waits
  int streams = 0;   // one-shot calls ask nobody: nothing is forced by the environment
  int ahead = 0;     // connecting ahead has been worth it
  // The name of the node as a number, and that number's negative.
  int node = 0, minus_node = 0;
  int misinformed = INT_MAX;  // this rank, if a variable has a wrong value here

  bool one_node() const { return node > 0 && node == -minus_node; }
};

// What this rank knows without looking at the communicator.
Vote my_vote(Room room, bool ahead);

// Collective. The first rank whose variables have wrong values says once what they must be.
Vote least_of_all(MPI_Comm comm, const Vote& mine);

// How an exchange went: who is to blame for its failure.
enum class Fault : int { none, of_tonari, of_program };
// Collective.
Fault worst_of_all(MPI_Comm comm, Fault mine);

}  // namespace tonari::preload
