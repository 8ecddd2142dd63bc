// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoallv and MPI_Alltoallw, whose lists say who talks to whom. Most of their counts may be
// zero. A call is an exchange.
#include "watch/watched_call.hpp"

namespace tonari::watch {
namespace {

// The lists of a call with a block per rank. types: one MPI_Datatype for all, or a list of them.
struct Lists {
  const char* call;
  const int *outs, *ins;
  const void *outtypes, *intypes;
  bool types_are_lists;
};

Handle type_at(const void* types, bool list, int block) {
  if (!list) return reinterpret_cast<Handle>(types);
  return (Handle) static_cast<const MPI_Datatype*>(types)[block];
}

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

// call() is the MPI's. Calls with MPI_IN_PLACE are not noted, since the send lists mean nothing.
template <class Call>
int exchanged(const void* returns_to, const void* sendbuf, Handle comm, const Lists& lists,
              const Call& call) {
  if (sendbuf == MPI_IN_PLACE) return call();
  return timed(returns_to, call, [&](Watcher& watcher, const void* site, Ticks begin, Ticks end) {
    note(watcher, site, comm, lists, begin, end);
  });
}

const void* one(Handle type) { return reinterpret_cast<const void*>(type); }

}  // namespace
}  // namespace tonari::watch

using namespace tonari::watch;

TONARI_WATCHED(MPI_Alltoallv,
               (const void* out, const int outs[], const int outplaces[], Handle outtype, void* in,
                const int ins[], const int inplaces[], Handle intype, Handle comm),
               exchanged(called.site, out, comm,
                         {"MPI_Alltoallv", outs, ins, one(outtype), one(intype), false}, [&] {
                           return called.real(out, outs, outplaces, outtype, in, ins, inplaces,
                                              intype, comm);
                         }));

TONARI_WATCHED(MPI_Alltoallw,
               (const void* out, const int outs[], const int outplaces[], const void* outtypes,
                void* in, const int ins[], const int inplaces[], const void* intypes, Handle comm),
               exchanged(called.site, out, comm,
                         {"MPI_Alltoallw", outs, ins, outtypes, intypes, true}, [&] {
                           return called.real(out, outs, outplaces, outtypes, in, ins, inplaces,
                                              intypes, comm);
                         }));
