// SPDX-License-Identifier: BSD-3-Clause
// The non-blocking neighborhood collectives. The program gets a generalized request of its MPI, so
// every call that completes requests takes it, alone or among others.
#include <memory>

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
  if (code != TONARI_SUCCESS) return raise(comm, code);
  return promise_exchange(exchange, static_cast<MPI_Request*>(request));
}

template <class Arguments, class Function>
int begin(const Caller& caller, Function* real, const Arguments& arguments, void* request) {
  if (caller.steps_aside()) return arguments.native(real, caller.comm, request);
  Communicator* const state = known_state(caller.communicator());
  const bool ours = state && uses_nonblocking(*state);
  const double start = recording() ? now() : 0.0;
  const int rc = ours ? begin_exchange(arguments, *state, caller.communicator(), request)
                      : arguments.native(real, caller.comm, request);
  if (recording()) [[unlikely]]
    record_call({caller.name, caller.site, static_cast<int>(ours ? Way::tonari : Way::native),
                 false, state ? arguments.bytes(*state) : 0, now() - start,
                 state ? state->why_nonblocking : "not asked when it was made"});
  return rc;
}

}  // namespace
}  // namespace tonari::preload

using namespace tonari::preload;

#define TONARI_NONBLOCKING(NAME, OURS, ARGUMENTS, ...)                                         \
  {                                                                                            \
    static auto* const real = behind<decltype(OURS)>("PMPI_" #NAME);                           \
    const ARGUMENTS arguments{__VA_ARGS__};                                                    \
    return begin({"MPI_" #NAME, __builtin_return_address(0), comm}, real, arguments, request); \
  }                                                                                            \
  TONARI_ALSO_FOR_FORTRAN(NAME, OURS)

TONARI_IN_FRONT_OF(Ineighbor_alltoall, ineighbor_alltoall, const void* sendbuf, int sendcount,
                   Handle sendtype, void* recvbuf, int recvcount, Handle recvtype, Handle comm,
                   void* request)
int ineighbor_alltoall(const void* sendbuf, int sendcount, Handle sendtype, void* recvbuf,
                       int recvcount, Handle recvtype, Handle comm,
                       void* request) TONARI_NONBLOCKING(Ineighbor_alltoall, ineighbor_alltoall,
                                                         Alltoall, sendbuf, sendcount, sendtype,
                                                         recvbuf, recvcount, recvtype)

    TONARI_IN_FRONT_OF(Ineighbor_alltoallv, ineighbor_alltoallv, const void* sendbuf,
                       const int sendcounts[], const int sdispls[], Handle sendtype, void* recvbuf,
                       const int recvcounts[], const int rdispls[], Handle recvtype, Handle comm,
                       void* request) int ineighbor_alltoallv(const void* sendbuf,
                                                              const int sendcounts[],
                                                              const int sdispls[], Handle sendtype,
                                                              void* recvbuf, const int recvcounts[],
                                                              const int rdispls[], Handle recvtype,
                                                              Handle comm, void* request)
        TONARI_NONBLOCKING(Ineighbor_alltoallv, ineighbor_alltoallv, Alltoallv, sendbuf, sendcounts,
                           sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype)

            TONARI_IN_FRONT_OF(Ineighbor_alltoallw, ineighbor_alltoallw, const void* sendbuf,
                               const int sendcounts[], const MPI_Aint sdispls[],
                               const void* sendtypes, void* recvbuf, const int recvcounts[],
                               const MPI_Aint rdispls[], const void* recvtypes, Handle comm,
                               void* request) int ineighbor_alltoallw(const void* sendbuf,
                                                                      const int sendcounts[],
                                                                      const MPI_Aint sdispls[],
                                                                      const void* sendtypes,
                                                                      void* recvbuf,
                                                                      const int recvcounts[],
                                                                      const MPI_Aint rdispls[],
                                                                      const void* recvtypes,
                                                                      Handle comm, void* request)
                TONARI_NONBLOCKING(Ineighbor_alltoallw, ineighbor_alltoallw, Alltoallw, sendbuf,
                                   sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                   recvtypes)

                    TONARI_IN_FRONT_OF(
                        Ineighbor_allgather, ineighbor_allgather, const void* sendbuf,
                        int sendcount, Handle sendtype, void* recvbuf, int recvcount,
                        Handle recvtype, Handle comm,
                        void* request) int ineighbor_allgather(const void* sendbuf, int sendcount,
                                                               Handle sendtype, void* recvbuf,
                                                               int recvcount, Handle recvtype,
                                                               Handle comm, void* request)
                        TONARI_NONBLOCKING(Ineighbor_allgather, ineighbor_allgather, Allgather,
                                           sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                           recvtype)

                            TONARI_IN_FRONT_OF(
                                Ineighbor_allgatherv, ineighbor_allgatherv, const void* sendbuf,
                                int sendcount, Handle sendtype, void* recvbuf,
                                const int recvcounts[], const int displs[], Handle recvtype,
                                Handle comm,
                                void* request) int ineighbor_allgatherv(const void* sendbuf,
                                                                        int sendcount,
                                                                        Handle sendtype,
                                                                        void* recvbuf,
                                                                        const int recvcounts[],
                                                                        const int displs[],
                                                                        Handle recvtype,
                                                                        Handle comm, void* request)
                                TONARI_NONBLOCKING(Ineighbor_allgatherv, ineighbor_allgatherv,
                                                   Allgatherv, sendbuf, sendcount, sendtype,
                                                   recvbuf, recvcounts, displs, recvtype)
