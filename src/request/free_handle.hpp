// SPDX-License-Identifier: BSD-3-Clause
// How handles of any kind are freed.
#pragma once

#include <memory>

#include "engine/comm/context.hpp"
#include "engine/comm/shared_comm.hpp"
#include "mpi/mpi_usable.hpp"
#include "request/ended_exchanges.hpp"
#include "request/guard.hpp"

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
    (void)look_at_ended();
  });
}

}  // namespace tonari
