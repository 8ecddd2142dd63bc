// SPDX-License-Identifier: BSD-3-Clause
// The persistent neighborhood collectives, and what starts and frees requests.
#include <algorithm>
#include <span>

#include "preload/agreement.hpp"
#include "preload/call.hpp"
#include "preload/operations.hpp"
#include "preload/persistent.hpp"
#include "preload/progress.hpp"
#include "preload/sites.hpp"

namespace tonari::preload {
namespace {

constexpr const char* tunes = "tonari tunes it";

// Collective, as MPI has it: these calls may wait for all ranks. Null, on all ranks: tonari cannot
// do it.
tonari_request exchange_of(const auto& arguments, const Communicator& state, Handle info) {
  tonari_request exchange = TONARI_REQUEST_NULL;
  if (!state.near || !state.persistent) return exchange;
  const InTonari now;
  (void)arguments.init(state, handle_as<MPI_Info>(info), &exchange);
  return exchange;
}

template <class Arguments, class Function>
int call_init(const Called<Function>& called, Handle comm, Handle info, void* request,
              const Arguments& arguments) {
  if (steps_aside(called.site, comm)) return arguments.native(called.real, comm, info, request);
  const double begin = recording() ? now() : 0.0;
  const Communicator& state = state_of(handle_as<MPI_Comm>(comm));
  const tonari_request exchange = exchange_of(arguments, state, info);
  const int rc = exchange ? make_token(handle_as<MPI_Comm>(comm), exchange, arguments.bytes(state),
                                       static_cast<MPI_Request*>(request))
                          : arguments.native(called.real, comm, info, request);
  if (recording())
    record_call({called.name, called.site, exchange ? Backend::tonari : Backend::native, false, 0,
                 now() - begin, exchange ? tunes : state.why_nonblocking});
  return rc;
}

// Null: a request of the MPI's own, or a call that is none of ours.
Token* token_at(const void* site, const void* request) {
  if (all_calls_pass() || not_from_program(site)) return nullptr;
  return token_of(*static_cast<const MPI_Request*>(request));
}

// The MPI has started its receive.
void start_and_record(Token& token, const void* site, double begin) {
  start(token);
  if (recording())
    record_call(
        {"MPI_Start", site, Backend::tonari, false, bytes_sent(token), now() - begin, tunes});
}

template <class Function>
int call_start(const Called<Function>& called, void* request) {
  Token* const token = token_at(called.site, request);
  const double begin = token && recording() ? now() : 0.0;
  const int rc = called.real(request);
  if (token && rc == MPI_SUCCESS) start_and_record(*token, called.site, begin);
  return rc;
}

template <class Function>
int call_startall(const Called<Function>& called, int count, void* requests) {
  const std::span list(static_cast<MPI_Request*>(requests),
                       static_cast<std::size_t>(std::max(count, 0)));
  const int rc = called.real(count, requests);
  for (MPI_Request& request : list)
    if (Token* const token = token_at(called.site, &request); token && rc == MPI_SUCCESS)
      start_and_record(*token, called.site, recording() ? now() : 0.0);
  return rc;
}

template <class Function>
int call_request_free(const Called<Function>& called, void* request) {
  if (Token* const token = token_at(called.site, request)) release(*token);
  return called.real(request);
}

}  // namespace

// As TONARI_BLOCKING (blocking.cpp).
#define TONARI_PERSISTENT(name, Operation, form, Count, Displacement)                            \
  TONARI_IN_FRONT_OF(                                                                            \
      name, (TONARI_TAKES_##form(Count, Displacement), Handle comm, Handle info, void* request), \
      call_init(called, comm, info, request, Operation{{TONARI_GIVES_##form}}))

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
TONARI_PERSISTENT(MPI_Neighbor_alltoall_init, Alltoall, Equal, int, int);
TONARI_PERSISTENT(MPI_Neighbor_alltoallv_init, Alltoallv, V, int, int);
TONARI_PERSISTENT(MPI_Neighbor_alltoallw_init, Alltoallw, W, int, MPI_Aint);
TONARI_PERSISTENT(MPI_Neighbor_allgather_init, Allgather, Equal, int, int);
TONARI_PERSISTENT(MPI_Neighbor_allgatherv_init, Allgatherv, GatherV, int, int);
#else  // Open MPI 4; others would take an MPI_ for MPI 4
TONARI_PERSISTENT(MPIX_Neighbor_alltoall_init, Alltoall, Equal, int, int);
TONARI_PERSISTENT(MPIX_Neighbor_alltoallv_init, Alltoallv, V, int, int);
TONARI_PERSISTENT(MPIX_Neighbor_alltoallw_init, Alltoallw, W, int, MPI_Aint);
TONARI_PERSISTENT(MPIX_Neighbor_allgather_init, Allgather, Equal, int, int);
TONARI_PERSISTENT(MPIX_Neighbor_allgatherv_init, Allgatherv, GatherV, int, int);
#endif
#if MPI_VERSION >= 4
TONARI_PERSISTENT(MPI_Neighbor_alltoall_init_c, Alltoall_c, Equal, MPI_Count, MPI_Aint);
TONARI_PERSISTENT(MPI_Neighbor_alltoallv_init_c, Alltoallv_c, V, MPI_Count, MPI_Aint);
TONARI_PERSISTENT(MPI_Neighbor_alltoallw_init_c, Alltoallw_c, W, MPI_Count, MPI_Aint);
TONARI_PERSISTENT(MPI_Neighbor_allgather_init_c, Allgather_c, Equal, MPI_Count, MPI_Aint);
TONARI_PERSISTENT(MPI_Neighbor_allgatherv_init_c, Allgatherv_c, GatherV, MPI_Count, MPI_Aint);
#endif

TONARI_IN_FRONT_OF(MPI_Start, (void* request), call_start(called, request));
TONARI_IN_FRONT_OF(MPI_Startall, (int count, void* requests),
                   call_startall(called, count, requests));
TONARI_IN_FRONT_OF(MPI_Request_free, (void* request), call_request_free(called, request));

}  // namespace tonari::preload
