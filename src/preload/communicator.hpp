// SPDX-License-Identifier: BSD-3-Clause
// What the preloaded library knows of a communicator: a neighborhood, and who does its calls.
#pragma once

#include <mpi.h>
#include <tonari/tonari.h>

#include <array>

#include "preload/dispatch.hpp"

namespace tonari::preload {

// With their v and w forms: those between neighbors, and that between all ranks with MPI_IN_PLACE.
enum class Kind { alltoall, allgather, in_place };

struct Communicator {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;  // null: all calls go to the MPI
  int sources = 0, targets = 0;
  bool attached = true;                // the communicator has it as an attribute
  bool came_once = false;              // ranks know that one call that blocks went to the MPI
  bool described = false;              // ranks have agreed on calls between neighbors
  bool called = false;                 // what sets it up is done
  bool connected = false;              // its streams are there
  bool proven = false;                 // ranks have compared how the first blocking exchange went
  const char* why = "measured";        // what decided who does calls
  std::array<Dispatch, 3> dispatches;  // by Kind
  bool in_place_asked = false;         // ranks have agreed on the last of them
  const char* why_in_place = "measured";
  bool nonblocking = false;  // begun exchanges go through tonari, once it is connected
  const char* why_nonblocking = "";
  bool persistent = false;           // requests may be made of tonari's
  bool ahead = false, used = false;  // connected for begun exchanges; there was one

  const char* why_of(Kind kind) const { return kind == Kind::in_place ? why_in_place : why; }
  Dispatch& dispatch(Kind kind) { return dispatches[static_cast<int>(kind)]; }
};

// Room for one neighborhood more. Local.
bool takes_room();
void leave_room();

// Calls between neighbors are done by this one from now on. Local.
void always(Communicator& state, Backend backend, const char* why);

// Collective: all calls between neighbors go to the MPI from now on, and the neighborhood ends.
void give_up(Communicator& state, const char* why);

// The same for all calls.
void retire(Communicator& state, const char* why);

// Whether it has been worth it so far to connect ahead (ahead.hpp); that one is used, or freed.
bool ahead_is_worth_it();
void use_ahead(Communicator& state);
void ahead_ends(const Communicator& state);

// Leaves the state as it is.
void free_neighborhood(Communicator& state);

}  // namespace tonari::preload
