// SPDX-License-Identifier: BSD-3-Clause
// What the preloaded library keeps of a communicator: a neighborhood, and which way calls go. It is
// attached to the communicator, and ends with it. The neighborhood ends at MPI_Finalize.
#pragma once

#include <mpi.h>
#include <tonari/tonari.h>

#include <array>

#include "preload/choice.hpp"

namespace tonari::preload {

// With their v and w forms: those between neighbors, and that between all ranks with MPI_IN_PLACE.
enum class Kind { alltoall, allgather, in_place };

struct Communicator {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;  // null: all calls go to the MPI
  int sources = 0, targets = 0;
  bool kept = true;               // the communicator has it as an attribute
  bool described = false;         // ranks have agreed on calls between neighbors
  bool called = false;            // what sets it up is done
  bool connected = false;         // its streams are there
  bool proven = false;            // ranks have compared how the first blocking exchange went
  const char* why = "measured";   // what decided which way calls go
  std::array<Choice, 3> choices;  // by Kind
  bool in_place_asked = false;    // ranks have agreed on the last of them
  const char* why_in_place = "measured";
  bool nonblocking = false;  // begun exchanges go through tonari, once it is connected
  const char* why_nonblocking = "";
  bool persistent = false;           // requests may be made of tonari's
  bool ahead = false, used = false;  // connected for begun exchanges; there was one

  const char* why_of(Kind kind) const { return kind == Kind::in_place ? why_in_place : why; }
  Choice& choice(Kind kind) { return choices[static_cast<int>(kind)]; }
};

// That of a communicator. Collective at the first call on it: a neighborhood collective that blocks
// may wait for all ranks by MPI's own rules. Never fails; where there is nothing that tonari could
// do, `near` is null on all ranks.
Communicator& state_of(MPI_Comm comm);

// The same for calls of a kind: those in place need no neighbors, and are agreed upon on their own.
Communicator& state_for(Kind kind, MPI_Comm comm);

// The same where it is there already, else null. Local.
Communicator* known_state(MPI_Comm comm);

// Whether an exchange that begins now goes through tonari. The same on all ranks, since it depends
// on what they agreed and on the calls before this one. Local.
bool uses_nonblocking(Communicator& state);

// Collective, for a communicator that the program has just made: exchanges that begin may wait for
// no other rank, so what they need is done here. Programs that do not use it are soon spared it.
void prepare(MPI_Comm comm);

// Collective: makes what exchanges need that may wait for no other rank. Returns tonari's code, an
// error on all ranks or on none; but only those that wait for a dead rank hear TONARI_ERR_PEER.
int connect(Communicator& state);

// Collective, once the trials of a kind are over. A neighborhood that no call needs any more ends.
void compare(MPI_Comm comm, Communicator& state, Choice& choice);

// Collective: all calls between neighbors go to the MPI from now on.
void give_up(Communicator& state, const char* why);

// Where sessions run without a world, before the last of them ends. Collective over the ranks of
// each communicator: frees the neighborhoods. All keys of attributes may end with the session, so
// the states do not stay.
void sessions_end(const char* why);

// The same before the MPI's own MPI_Finalize, but the states stay: that calls delete callbacks of
// MPI_COMM_SELF, which may still use all that there is. Communicators that come from now on are no
// concern of ours, too.
void finalize_begins();

}  // namespace tonari::preload
