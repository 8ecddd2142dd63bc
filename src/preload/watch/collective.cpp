// SPDX-License-Identifier: BSD-3-Clause
#include "preload/watch/collective.hpp"

namespace tonari::watch {
namespace {

Handle type_at(const void* types, bool list, int block) {
  if (!list) return reinterpret_cast<Handle>(types);
  return (Handle) static_cast<const MPI_Datatype*>(types)[block];
}

}  // namespace

// What was open on this communicator ends before the call, and the call itself with it.
void note(Watcher& watcher, const void* site, Handle comm, const Lists& lists, Ticks begin,
          Ticks end) {
  const Members& members = members_of(handle_as<MPI_Comm>(comm));
  if (!members.id) return;
  watcher.close_of(members.id);
  const auto side = [&](const int* counts, const void* types, bool sent) {
    for (int rank = 0; rank < members.ranks(); ++rank) {
      if (counts[rank] == 0) continue;
      const Handle type = type_at(types, lists.types_are_lists, rank);
      note(watcher, site, {lists.call, sent, rank, 0, counts[rank], type, comm}, nullptr, begin,
           end);
      begin = end;
    }
  };
  side(lists.outs, lists.outtypes, true);
  side(lists.ins, lists.intypes, false);
  watcher.close_of(members.id);
}

}  // namespace tonari::watch
