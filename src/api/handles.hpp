// What the opaque handles of tonari.h point to.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>

#include "api/bound_call.hpp"
#include "api/guard.hpp"
#include "api/prepared.hpp"
#include "api/request_cache.hpp"
#include "channels/mpi_usable.hpp"
#include "engine/selector.hpp"

struct tonari_neighborhood_s {
  std::shared_ptr<tonari::Context> context;
  // For one-shot calls, the same on all ranks: what was chosen for problems of a kind, and what was
  // prepared lately.
  std::map<std::string, tonari::Choice> choices;
  tonari::RequestCache cache;
  // With cdag_static_buffers: what the first call of each operation bound.
  std::array<tonari::BoundCall, tonari::operations> bound;
};

struct tonari_request_s {
  std::shared_ptr<tonari::Prepared> prepared;
  bool active = false;
  bool once = false;    // of a non-blocking one-shot call: not to be started again
  bool may_go = false;  // started or waited for with others, of which one failed: it can be freed
};

namespace tonari {

// Frees what a handle points to, and then the windows that nobody uses any more. context_of: of
// what it points to; it is asked only while MPI can be used, and may refuse.
template <class Handle, class ContextOf>
int free_handle(Handle** handle, const char* name, ContextOf context_of) {
  return guarded([&] {
    require(handle, name);
    std::shared_ptr<SharedComm> shared;
    if (*handle && mpi_usable()) shared = context_of(**handle).share();
    delete *handle;
    *handle = nullptr;
    if (shared) shared->trim_windows();
  });
}

}  // namespace tonari
