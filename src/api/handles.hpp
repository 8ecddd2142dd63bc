// SPDX-License-Identifier: BSD-3-Clause
// The object behind the handle of a neighborhood, and how handles of any kind are freed.
#pragma once

#include <array>
#include <memory>

#include "api/bound_call.hpp"
#include "api/guard.hpp"
#include "api/one_shots.hpp"
#include "api/prepared.hpp"
#include "api/remembered_choices.hpp"
#include "api/request_cache.hpp"
#include "channels/mpi_usable.hpp"

struct tonari_neighborhood_s {
  std::shared_ptr<tonari::Context> context;
  // For one-shot calls, the same on all ranks: the choices for kinds of problems, and the latest
  // prepared exchanges.
  tonari::RememberedChoices choices;
  tonari::RequestCache cache;
  // One-shot calls for which nothing is forced; made by the first of them.
  std::unique_ptr<tonari::OneShots> one_shots;
  // With cdag_static_buffers: the first call of each operation, bound.
  std::array<tonari::BoundCall, tonari::operations> bound;
};

namespace tonari {

// Frees what a handle points to, and then the windows that nobody uses any more. `context_of` finds
// its context; it is called only while MPI can be used, and may refuse.
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
