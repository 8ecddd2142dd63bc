// SPDX-License-Identifier: BSD-3-Clause
// How a function of MPI is watched: the MPI does it, and what it was is noted afterwards.
#pragma once

#include "preload/aside.hpp"
#include "preload/interpose.hpp"
#include "watch/epochs.hpp"
#include "watch/members.hpp"
#include "watch/mode.hpp"

namespace tonari::watch {

using preload::behind;
using preload::Called;
using preload::Handle;
using preload::handle_as;

// Of all watched functions: a tool may send one message as several calls of the MPI.
constexpr char watched_calls = 0;

// Where a Fortran program calls, while the MPI's binding in between does; else null.
extern __attribute__((tls_model("initial-exec"))) thread_local constinit const void* fortran_site;

// returns_to: null where a call comes back, which is not noted again.
inline const void* site_of(const void* returns_to) {
  return returns_to && fortran_site ? fortran_site : returns_to;
}

// That of the thread, if calls from this place are to be noted; else null.
inline Watcher* watcher_for(const void* site) {
  return watching() && !preload::not_from_program(site) ? this_threads_watcher() : nullptr;
}

template <class Request>  // a pointer or an integer
std::uintptr_t word_of(Request request) {
  if constexpr (std::is_pointer_v<Request>)
    return reinterpret_cast<std::uintptr_t>(request);
  else
    return static_cast<std::uintptr_t>(request);
}

inline std::uint64_t bytes_of(int count, Handle type) {
  int size = 0;
  if (count <= 0 || PMPI_Type_size(handle_as<MPI_Datatype>(type), &size) != MPI_SUCCESS) return 0;
  return size > 0 ? static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size) : 0;
}

// One end of a message, as a call has it.
struct End {
  const char* call;
  bool sent;
  int peer, tag, count;  // peer: in the communicator
  Handle type, comm;
};
// request: null for calls that block.
void note(Watcher& watcher, const void* site, const End& what, const MPI_Request* request,
          Ticks begin, Ticks end);

// call() is the MPI's; after(watcher, site, begin, end) notes it if it has succeeded.
template <class Call, class After>
int timed(const void* returns_to, const Call& call, const After& after) {
  const void* const site = site_of(returns_to);
  Watcher* const watcher = watcher_for(site);
  if (!watcher) return call();
  const Ticks begin = ticks();
  const int rc = call();
  const Ticks end = ticks();
  if (rc == MPI_SUCCESS) after(*watcher, site, begin, end);
  return rc;
}

template <class Call>
int noted(const void* returns_to, const End& what, const void* request, const Call& call) {
  return timed(returns_to, call, [&](Watcher& watcher, const void* site, Ticks begin, Ticks end) {
    note(watcher, site, what, static_cast<const MPI_Request*>(request), begin, end);
  });
}

}  // namespace tonari::watch

// As TONARI_IN_FRONT_OF, for a function that is watched.
#define TONARI_WATCHED(name, takes, ...) TONARI_ENTRIES(name, watched_calls, takes, __VA_ARGS__)
