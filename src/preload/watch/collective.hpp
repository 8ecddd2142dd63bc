// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoallv and MPI_Alltoallw, whose lists say who talks to whom. Most of their counts may be
// zero. A call is an exchange.
#pragma once

#include "preload/watch/watched_call.hpp"

namespace tonari::watch {

// The lists of a call with a block per rank. types: one MPI_Datatype for all, or a list of them.
struct Lists {
  const char* call;
  const int *outs, *ins;
  const void *outtypes, *intypes;
  bool types_are_lists;
};
void note(Watcher& watcher, const void* site, Handle comm, const Lists& lists, Ticks begin,
          Ticks end);

template <class Call>
int exchanged(const void* returns_to, Handle comm, const Lists& lists, const Call& call) {
  return timed(returns_to, call, [&](Watcher& watcher, const void* site, Ticks begin, Ticks end) {
    note(watcher, site, comm, lists, begin, end);
  });
}

}  // namespace tonari::watch
