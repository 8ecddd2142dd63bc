// SPDX-License-Identifier: BSD-3-Clause
// Programs with sessions and without MPI_Init have no MPI_Finalize: what is left ends with their
// last session, while everything still works.
#include <atomic>

#include "mpi/world.hpp"
#include "preload/attribute.hpp"
#include "preload/call.hpp"
#include "preload/loaded.hpp"
#include "preload/persistent.hpp"

// MPIs without sessions must not seem to have them.
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
namespace tonari::preload {
namespace {

std::atomic<int> open_sessions{0};

template <class Function>
int begin(const Called<Function>& called, Handle info, Handle errhandler, void* session) {
  tell_loaded();
  const int rc = called.real(info, errhandler, session);
  open_sessions += called.site && rc == MPI_SUCCESS;
  return rc;
}

// A world that runs has its own end.
template <class Function>
int finish(const Called<Function>& called, void* session) {
  if (called.site && --open_sessions == 0 && !world_runs()) {
    free_tokens();
    sessions_end("MPI_Session_finalize");
  }
  return called.real(session);
}

}  // namespace

TONARI_IN_FRONT_OF(MPI_Session_init, (Handle info, Handle errhandler, void* session),
                   begin(called, info, errhandler, session));
TONARI_IN_FRONT_OF(MPI_Session_finalize, (void* session), finish(called, session));

}  // namespace tonari::preload
#endif
