// SPDX-License-Identifier: BSD-3-Clause
// Where the state of a communicator lies: it is an attribute of the communicator, and ends with it.
// Its neighborhood ends at MPI_Finalize at the latest.
#pragma once

#include "preload/communicator.hpp"

namespace tonari::preload {

// The state, if it is there already, else null. Local.
Communicator* known_state(MPI_Comm comm);

// The same, made where it is not there. Never fails: without memory for an attribute it is one for
// this call, as the next one cannot find it. Local.
Communicator& attached_state(MPI_Comm comm);

// Where sessions run without a world, before the last of them ends. Collective over the ranks of
// each communicator: frees the neighborhoods. All keys of attributes may end with the session, so
// the states do not stay.
void sessions_end(const char* why);

// The same before the MPI's own MPI_Finalize, but the states stay: that calls delete callbacks of
// MPI_COMM_SELF, which may still use all that there is. Communicators that come from now on are no
// concern of ours, too.
void finalize_begins();
bool finalize_has_begun();

inline constexpr const char* at_finalize = "MPI_Finalize";  // why calls go to the MPI then

}  // namespace tonari::preload
