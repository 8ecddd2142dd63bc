// SPDX-License-Identifier: BSD-3-Clause
// The non-blocking neighborhood collectives. The program gets a generalized request of its MPI, so
// every call that completes requests takes it, alone or among others.
#include <memory>

#include "preload/ahead.hpp"
#include "preload/attribute.hpp"
#include "preload/call.hpp"
#include "preload/operations.hpp"
#include "preload/progress.hpp"
#include "preload/raise.hpp"
#include "preload/sites.hpp"

namespace tonari::preload {
namespace {

// What stands behind one request that the program has. The MPI frees it with the request.
struct Pending {
  MPI_Request request = MPI_REQUEST_NULL;
  tonari_request exchange = TONARI_REQUEST_NULL;
  int error = MPI_SUCCESS;
};

int tell_status(void* pending, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return static_cast<Pending*>(pending)->error;
}
int free_pending(void* pending) {
  delete static_cast<Pending*>(pending);
  return MPI_SUCCESS;
}
int cancel_nothing(void*, int) { return MPI_SUCCESS; }  // collectives cannot be canceled

void complete_request(void* who, int code) {
  auto* const pending = static_cast<Pending*>(who);
  if (code != TONARI_SUCCESS) pending->error = class_of(code);
  (void)tonari_request_free(&pending->exchange);
  PMPI_Grequest_complete(pending->request);
}

// Gives the program a request for what has begun.
int make_request(tonari_request exchange, MPI_Request* request) {
  auto pending = std::make_unique<Pending>();
  pending->exchange = exchange;
  const int rc = PMPI_Grequest_start(tell_status, free_pending, cancel_nothing, pending.get(),
                                     &pending->request);
  if (rc != MPI_SUCCESS) return rc;
  *request = pending->request;
  drive({exchange, complete_request, pending.release()});
  return MPI_SUCCESS;
}

template <class Arguments>
int begin_exchange(const Arguments& arguments, const Communicator& state, MPI_Comm comm,
                   void* request) {
  tonari_request exchange = TONARI_REQUEST_NULL;
  const int code = [&] {
    const InTonari now;
    return arguments.begin(state, &exchange);
  }();
  if (code != TONARI_SUCCESS) return raise(comm, code, arguments.wrong(state));
  return make_request(exchange, static_cast<MPI_Request*>(request));
}

// Of a communicator that nobody asked about.
const char* why_unknown() {
  const char* const undriven = why_not_driven();
  return undriven ? undriven : "not asked when it was made";
}

template <class Arguments, class Function>
int call_nonblocking(const Called<Function>& called, Handle comm, void* request,
                     const Arguments& arguments) {
  if (steps_aside(called.site, comm)) return arguments.native(called.real, comm, request);
  Communicator* const state = known_state(handle_as<MPI_Comm>(comm));
  const bool ours = state && uses_nonblocking(*state);
  const double start = recording() ? now() : 0.0;
  const int rc = ours ? begin_exchange(arguments, *state, handle_as<MPI_Comm>(comm), request)
                      : arguments.native(called.real, comm, request);
  if (recording()) [[unlikely]]
    record_call({called.name, called.site, ours ? Backend::tonari : Backend::native, false,
                 state ? arguments.bytes(*state) : 0, now() - start,
                 state ? state->why_nonblocking : why_unknown()});
  return rc;
}

}  // namespace

// As TONARI_BLOCKING (blocking.cpp).
#define TONARI_NONBLOCKING(name, Operation, form, Count, Displacement)                             \
  TONARI_IN_FRONT_OF(name, (TONARI_TAKES_##form(Count, Displacement), Handle comm, void* request), \
                     call_nonblocking(called, comm, request, Operation{{TONARI_GIVES_##form}}))

TONARI_NONBLOCKING(MPI_Ineighbor_alltoall, Alltoall, Equal, int, int);
TONARI_NONBLOCKING(MPI_Ineighbor_alltoallv, Alltoallv, V, int, int);
TONARI_NONBLOCKING(MPI_Ineighbor_alltoallw, Alltoallw, W, int, MPI_Aint);
TONARI_NONBLOCKING(MPI_Ineighbor_allgather, Allgather, Equal, int, int);
TONARI_NONBLOCKING(MPI_Ineighbor_allgatherv, Allgatherv, GatherV, int, int);
#if MPI_VERSION >= 4
TONARI_NONBLOCKING(MPI_Ineighbor_alltoall_c, Alltoall_c, Equal, MPI_Count, MPI_Aint);
TONARI_NONBLOCKING(MPI_Ineighbor_alltoallv_c, Alltoallv_c, V, MPI_Count, MPI_Aint);
TONARI_NONBLOCKING(MPI_Ineighbor_alltoallw_c, Alltoallw_c, W, MPI_Count, MPI_Aint);
TONARI_NONBLOCKING(MPI_Ineighbor_allgather_c, Allgather_c, Equal, MPI_Count, MPI_Aint);
TONARI_NONBLOCKING(MPI_Ineighbor_allgatherv_c, Allgatherv_c, GatherV, MPI_Count, MPI_Aint);
#endif

}  // namespace tonari::preload
