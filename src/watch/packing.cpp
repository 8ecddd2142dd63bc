// SPDX-License-Identifier: BSD-3-Clause
// Calls that pack and unpack.
#include "watch/watched_call.hpp"

namespace tonari::watch {
namespace {

template <class Call>
int packed(const char* name, const void* returns_to, int count, Handle type, const Call& call) {
  const auto note = [&](Watcher& watcher, const void* site, Ticks begin, Ticks end) {
    try {
      watcher.counted(name, site, bytes_of(count, type), begin, end);
    } catch (...) {  // without memory it is lost
    }
  };
  return timed(returns_to, call, note);
}

}  // namespace
}  // namespace tonari::watch

using namespace tonari::watch;

TONARI_WATCHED(MPI_Pack,
               (const void* in, int count, Handle type, void* out, int size, int* place,
                Handle comm),
               packed("MPI_Pack", called.site, count, type,
                      [&] { return called.real(in, count, type, out, size, place, comm); }));

TONARI_WATCHED(MPI_Unpack,
               (const void* in, int size, int* place, void* out, int count, Handle type,
                Handle comm),
               packed("MPI_Unpack", called.site, count, type,
                      [&] { return called.real(in, size, place, out, count, type, comm); }));
