// SPDX-License-Identifier: BSD-3-Clause
// The persistent neighborhood collectives, and what starts and frees requests.
#include "preload/call.hpp"
#include "preload/operations.hpp"
#include "preload/persistent.hpp"
#include "preload/progress.hpp"
#include "preload/sites.hpp"

#ifdef OPEN_MPI  // MPICH does not drive exchanges of others: its requests stay as they are

namespace tonari::preload {
namespace {

constexpr const char* tunes = "tonari tunes it";

// Collective, as MPI has it: these calls may wait for all ranks. Null: tonari cannot do it.
template <class Arguments>
tonari_request exchange_of(const Arguments& arguments, const Caller& caller, Handle info) {
  Communicator& state = state_of(caller.communicator());
  tonari_request exchange = TONARI_REQUEST_NULL;
  if (!state.near || !state.persistent) return exchange;
  const InTonari now;
  (void)arguments.init(state, handle_as<MPI_Info>(info),
                       &exchange);  // null on all ranks if it fails
  return exchange;
}

template <class Arguments, class Function>
int init(const Caller& caller, Function* real, const Arguments& arguments, Handle info,
         void* request) {
  if (caller.steps_aside()) return arguments.native(real, caller.comm, info, request);
  const double begin = recording() ? now() : 0.0;
  const tonari_request exchange = exchange_of(arguments, caller, info);
  const Communicator& state = state_of(caller.communicator());
  const int rc =
      exchange ? make_token(exchange, arguments.bytes(state), static_cast<MPI_Request*>(request))
               : arguments.native(real, caller.comm, info, request);
  if (recording())
    record_call({caller.name, caller.site, static_cast<int>(exchange ? Way::tonari : Way::native),
                 false, 0, now() - begin, exchange ? tunes : state.why_nonblocking});
  return rc;
}

template <class Function>
int start_one(Function* real, const void* site, void* request) {
  Token* const token = wrong_mpi_runs() ? nullptr : token_of(*static_cast<MPI_Request*>(request));
  const double begin = token && recording() ? now() : 0.0;
  const int rc = real(request);
  if (!token || rc != MPI_SUCCESS) return rc;
  start(*token);
  if (recording())
    record_call({"MPI_Start", site, static_cast<int>(Way::tonari), false, bytes_sent(*token),
                 now() - begin, tunes});
  return rc;
}

}  // namespace
}  // namespace tonari::preload

using namespace tonari::preload;

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define TONARI_INIT_PREFIX "MPI_"
#else
#define TONARI_INIT_PREFIX "MPIX_"  // Open MPI 4; others would take an MPI_ for MPI 4
#endif

#define TONARI_IN_FRONT_OF_INIT(NAME, OURS, ...)                                          \
  extern "C" TONARI_VISIBLE int OURS(__VA_ARGS__) asm(TONARI_INIT_PREFIX #NAME);          \
  extern "C" TONARI_VISIBLE                                                               \
      __attribute__((alias(TONARI_INIT_PREFIX #NAME))) decltype(OURS) OURS##_fortran asm( \
          "P" TONARI_INIT_PREFIX #NAME);

#define TONARI_PERSISTENT(NAME, OURS, ARGUMENTS, ...)                                 \
  {                                                                                   \
    static auto* const real = behind<decltype(OURS)>("P" TONARI_INIT_PREFIX #NAME);   \
    const ARGUMENTS arguments{__VA_ARGS__};                                           \
    const Caller caller{TONARI_INIT_PREFIX #NAME, __builtin_return_address(0), comm}; \
    return init(caller, real, arguments, info, request);                              \
  }

TONARI_IN_FRONT_OF_INIT(Neighbor_alltoall_init, neighbor_alltoall_init, const void* sendbuf,
                        int sendcount, Handle sendtype, void* recvbuf, int recvcount,
                        Handle recvtype, Handle comm, Handle info, void* request)
int neighbor_alltoall_init(const void* sendbuf, int sendcount, Handle sendtype, void* recvbuf,
                           int recvcount, Handle recvtype, Handle comm, Handle info,
                           void* request) TONARI_PERSISTENT(Neighbor_alltoall_init,
                                                            neighbor_alltoall_init, Alltoall,
                                                            sendbuf, sendcount, sendtype, recvbuf,
                                                            recvcount, recvtype)

    TONARI_IN_FRONT_OF_INIT(
        Neighbor_alltoallv_init, neighbor_alltoallv_init, const void* sendbuf,
        const int sendcounts[], const int sdispls[], Handle sendtype, void* recvbuf,
        const int recvcounts[], const int rdispls[], Handle recvtype, Handle comm, Handle info,
        void* request) int neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[],
                                                   const int sdispls[], Handle sendtype,
                                                   void* recvbuf, const int recvcounts[],
                                                   const int rdispls[], Handle recvtype,
                                                   Handle comm, Handle info, void* request)
        TONARI_PERSISTENT(Neighbor_alltoallv_init, neighbor_alltoallv_init, Alltoallv, sendbuf,
                          sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype)

            TONARI_IN_FRONT_OF_INIT(
                Neighbor_alltoallw_init, neighbor_alltoallw_init, const void* sendbuf,
                const int sendcounts[], const MPI_Aint sdispls[], const void* sendtypes,
                void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                const void* recvtypes, Handle comm, Handle info,
                void* request) int neighbor_alltoallw_init(const void* sendbuf,
                                                           const int sendcounts[],
                                                           const MPI_Aint sdispls[],
                                                           const void* sendtypes, void* recvbuf,
                                                           const int recvcounts[],
                                                           const MPI_Aint rdispls[],
                                                           const void* recvtypes, Handle comm,
                                                           Handle info, void* request)
                TONARI_PERSISTENT(Neighbor_alltoallw_init, neighbor_alltoallw_init, Alltoallw,
                                  sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                  rdispls, recvtypes)

                    TONARI_IN_FRONT_OF_INIT(
                        Neighbor_allgather_init, neighbor_allgather_init, const void* sendbuf,
                        int sendcount, Handle sendtype, void* recvbuf, int recvcount,
                        Handle recvtype, Handle comm, Handle info,
                        void* request) int neighbor_allgather_init(const void* sendbuf,
                                                                   int sendcount, Handle sendtype,
                                                                   void* recvbuf, int recvcount,
                                                                   Handle recvtype, Handle comm,
                                                                   Handle info, void* request)
                        TONARI_PERSISTENT(Neighbor_allgather_init, neighbor_allgather_init,
                                          Allgather, sendbuf, sendcount, sendtype, recvbuf,
                                          recvcount, recvtype)

                            TONARI_IN_FRONT_OF_INIT(
                                Neighbor_allgatherv_init, neighbor_allgatherv_init,
                                const void* sendbuf, int sendcount, Handle sendtype, void* recvbuf,
                                const int recvcounts[], const int displs[], Handle recvtype,
                                Handle comm, Handle info,
                                void* request) int neighbor_allgatherv_init(const void* sendbuf,
                                                                            int sendcount,
                                                                            Handle sendtype,
                                                                            void* recvbuf,
                                                                            const int recvcounts[],
                                                                            const int displs[],
                                                                            Handle recvtype,
                                                                            Handle comm,
                                                                            Handle info,
                                                                            void* request)
                                TONARI_PERSISTENT(Neighbor_allgatherv_init,
                                                  neighbor_allgatherv_init, Allgatherv, sendbuf,
                                                  sendcount, sendtype, recvbuf, recvcounts, displs,
                                                  recvtype)

                                    TONARI_IN_FRONT_OF(
                                        Start, start_request,
                                        void* request) int start_request(void* request) {
  static auto* const real = behind<decltype(start_request)>("PMPI_Start");
  return start_one(real, __builtin_return_address(0), request);
}
TONARI_ALSO_FOR_FORTRAN(Start, start_request)

TONARI_IN_FRONT_OF(Startall, start_requests, int count, void* requests)
int start_requests(int count, void* requests) {
  static auto* const all = behind<decltype(start_requests)>("PMPI_Startall");
  static auto* const one = behind<decltype(start_request)>("PMPI_Start");
  auto* const list = static_cast<MPI_Request*>(requests);
  bool ours = false;
  for (int k = 0; k < count && !ours && !wrong_mpi_runs(); ++k) ours = token_of(list[k]);
  if (!ours) return all(count, requests);
  int rc = MPI_SUCCESS;
  for (int k = 0; k < count && rc == MPI_SUCCESS; ++k)
    rc = start_one(one, __builtin_return_address(0), &list[k]);
  return rc;
}
TONARI_ALSO_FOR_FORTRAN(Startall, start_requests)

TONARI_IN_FRONT_OF(Request_free, free_request, void* request)
int free_request(void* request) {
  static auto* const real = behind<decltype(free_request)>("PMPI_Request_free");
  Token* const token = wrong_mpi_runs() ? nullptr : token_of(*static_cast<MPI_Request*>(request));
  if (token) release(*token);
  return real(request);
}
TONARI_ALSO_FOR_FORTRAN(Request_free, free_request)

#endif
