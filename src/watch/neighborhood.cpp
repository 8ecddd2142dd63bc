// SPDX-License-Identifier: BSD-3-Clause
// Neighborhood collectives, which need no advice: `tonari run` speeds them up as they are. So only
// their places and times are noted.
#include "watch/watched_call.hpp"

namespace tonari::watch {
namespace {

template <class Call>
int counted(const char* name, const void* returns_to, const Call& call) {
  return timed(returns_to, call, [&](Watcher& watcher, const void* site, Ticks begin, Ticks end) {
    try {
      watcher.counted(name, site, 0, begin, end);
    } catch (...) {  // without memory it is lost
    }
  });
}

}  // namespace
}  // namespace tonari::watch

using namespace tonari::watch;

#define TONARI_WORDS(...) __VA_ARGS__
#define TONARI_COUNTED(NAME, TAKES, PASSES) \
  TONARI_WATCHED(NAME, (TAKES), counted(#NAME, called.site, [&] { return called.real(PASSES); }))
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define TONARI_COUNTED_INIT(NAME, TAKES, PASSES)                                              \
  TONARI_COUNTED(MPI_Neighbor_##NAME##_init, TONARI_WORDS(TAKES, Handle info, void* request), \
                 TONARI_WORDS(PASSES, info, request))
#else  // Open MPI 4
#define TONARI_COUNTED_INIT(NAME, TAKES, PASSES)                                               \
  TONARI_COUNTED(MPIX_Neighbor_##NAME##_init, TONARI_WORDS(TAKES, Handle info, void* request), \
                 TONARI_WORDS(PASSES, info, request))
#endif
// Of each operation the call that blocks, the one that has a request, and the persistent one.
#define TONARI_NEIGHBORHOOD(NAME, TAKES, PASSES)                                  \
  TONARI_COUNTED(MPI_Neighbor_##NAME, TONARI_WORDS(TAKES), TONARI_WORDS(PASSES)); \
  TONARI_COUNTED(MPI_Ineighbor_##NAME, TONARI_WORDS(TAKES, void* request),        \
                 TONARI_WORDS(PASSES, request));                                  \
  TONARI_COUNTED_INIT(NAME, TONARI_WORDS(TAKES), TONARI_WORDS(PASSES))

TONARI_NEIGHBORHOOD(allgather,
                    TONARI_WORDS(const void* out, int outs, Handle outtype, void* in, int ins,
                                 Handle intype, Handle comm),
                    TONARI_WORDS(out, outs, outtype, in, ins, intype, comm));
TONARI_NEIGHBORHOOD(allgatherv,
                    TONARI_WORDS(const void* out, int outs, Handle outtype, void* in,
                                 const int ins[], const int inplaces[], Handle intype, Handle comm),
                    TONARI_WORDS(out, outs, outtype, in, ins, inplaces, intype, comm));
TONARI_NEIGHBORHOOD(alltoall,
                    TONARI_WORDS(const void* out, int outs, Handle outtype, void* in, int ins,
                                 Handle intype, Handle comm),
                    TONARI_WORDS(out, outs, outtype, in, ins, intype, comm));
TONARI_NEIGHBORHOOD(alltoallv,
                    TONARI_WORDS(const void* out, const int outs[], const int outplaces[],
                                 Handle outtype, void* in, const int ins[], const int inplaces[],
                                 Handle intype, Handle comm),
                    TONARI_WORDS(out, outs, outplaces, outtype, in, ins, inplaces, intype, comm));
TONARI_NEIGHBORHOOD(alltoallw,
                    TONARI_WORDS(const void* out, const int outs[], const MPI_Aint outplaces[],
                                 const void* outtypes, void* in, const int ins[],
                                 const MPI_Aint inplaces[], const void* intypes, Handle comm),
                    TONARI_WORDS(out, outs, outplaces, outtypes, in, ins, inplaces, intypes, comm));
