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

// Of one request that the program has. The MPI frees it with the request.
struct Promise {
  MPI_Request request = MPI_REQUEST_NULL;
  tonari_request exchange = TONARI_REQUEST_NULL;
  int error = MPI_SUCCESS;
};

int tell_status(void* promise, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return static_cast<Promise*>(promise)->error;
}
int free_promise(void* promise) {
  delete static_cast<Promise*>(promise);
  return MPI_SUCCESS;
}
int cancel_nothing(void*, int) { return MPI_SUCCESS; }  // collectives cannot be canceled

void keep(void* kept, int code) {
  auto* const promise = static_cast<Promise*>(kept);
  if (code != TONARI_SUCCESS) promise->error = class_of(code);
  (void)tonari_request_free(&promise->exchange);
  PMPI_Grequest_complete(promise->request);
}

// Gives the program a request for what has begun.
int promise_exchange(tonari_request exchange, MPI_Request* request) {
  auto promise = std::make_unique<Promise>();
  promise->exchange = exchange;
  const int rc = PMPI_Grequest_start(tell_status, free_promise, cancel_nothing, promise.get(),
                                     &promise->request);
  if (rc != MPI_SUCCESS) return rc;
  *request = promise->request;
  Promise* const held = promise.release();
  drive({exchange, keep, held});
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
  return promise_exchange(exchange, static_cast<MPI_Request*>(request));
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
    record_call({called.name, called.site, static_cast<int>(ours ? Way::tonari : Way::native),
                 false, state ? arguments.bytes(*state) : 0, now() - start,
                 state ? state->why_nonblocking : why_unknown()});
  return rc;
}

}  // namespace

#define TONARI_NONBLOCKING(name, suffix, kind, shape, Count, Displacement)     \
  TONARI_IN_FRONT_OF(                                                          \
      MPI_Ineighbor_##name##suffix,                                            \
      (TONARI_TAKES_##shape(Count, Displacement), Handle comm, void* request), \
      call_nonblocking(called, comm, request, Neighbor_##name##suffix{{TONARI_GIVES_##shape}}))
TONARI_OPERATIONS(TONARI_NONBLOCKING);

}  // namespace tonari::preload
