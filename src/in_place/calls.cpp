// SPDX-License-Identifier: BSD-3-Clause
// The in-place all-to-all exchanges as C functions: tonari_alltoall_inplace_init,
// tonari_ialltoall_inplace, tonari_alltoall_inplace, and the same of the other three forms; with _c
// at the end their counts are of type MPI_Count.
#include "in_place/request.hpp"
#include "neighborhood/group.hpp"

using namespace tonari;

namespace {

InPlaceCall symmetric(const BufferArguments& blocks, MPI_Comm comm, MPI_Info info) {
  return {blocks, {}, false, comm, info};
}
InPlaceCall general(const BufferArguments& send, const BufferArguments& recv, MPI_Comm comm,
                    MPI_Info info) {
  return {recv, send, true, comm, info};
}

auto preparing(const InPlaceCall& call, Use use) {
  return [&call, use](Output output) { return prepare_in_place(call, use, output); };
}

int made(const InPlaceCall& call, tonari_request* request) {
  if (Group::current())
    return guarded([] {
      fail(Errc::argument,
           "an exchange in place cannot be part of a group; make its request outside of it");
    });
  return init_request(request, preparing(call, Use::persistent));
}
int started(const InPlaceCall& call, tonari_request* request) {
  return start_one_shot(request, preparing(call, Use::one_shot));
}
int completed(const InPlaceCall& call) { return run_one_shot(preparing(call, Use::one_shot)); }

}  // namespace

extern "C" int tonari_alltoall_inplace_init(void* buf, int count, MPI_Datatype type, MPI_Comm comm,
                                            MPI_Info info, tonari_request* request) {
  return made(symmetric(regular(buf, count, type), comm, info), request);
}

extern "C" int tonari_ialltoall_inplace(void* buf, int count, MPI_Datatype type, MPI_Comm comm,
                                        MPI_Info info, tonari_request* request) {
  return started(symmetric(regular(buf, count, type), comm, info), request);
}

extern "C" int tonari_alltoall_inplace(void* buf, int count, MPI_Datatype type, MPI_Comm comm,
                                       MPI_Info info) {
  return completed(symmetric(regular(buf, count, type), comm, info));
}

extern "C" int tonari_alltoallv_inplace_init(void* buf, const int counts[], const MPI_Aint displs[],
                                             MPI_Datatype type, MPI_Comm comm, MPI_Info info,
                                             tonari_request* request) {
  return made(symmetric(v_form(buf, counts, displs, type), comm, info), request);
}

extern "C" int tonari_ialltoallv_inplace(void* buf, const int counts[], const MPI_Aint displs[],
                                         MPI_Datatype type, MPI_Comm comm, MPI_Info info,
                                         tonari_request* request) {
  return started(symmetric(v_form(buf, counts, displs, type), comm, info), request);
}

extern "C" int tonari_alltoallv_inplace(void* buf, const int counts[], const MPI_Aint displs[],
                                        MPI_Datatype type, MPI_Comm comm, MPI_Info info) {
  return completed(symmetric(v_form(buf, counts, displs, type), comm, info));
}

extern "C" int tonari_alltoallw_inplace_init(void* buf, const int counts[], const MPI_Aint displs[],
                                             const MPI_Datatype types[], MPI_Comm comm,
                                             MPI_Info info, tonari_request* request) {
  return made(symmetric(w_form(buf, counts, displs, types), comm, info), request);
}

extern "C" int tonari_ialltoallw_inplace(void* buf, const int counts[], const MPI_Aint displs[],
                                         const MPI_Datatype types[], MPI_Comm comm, MPI_Info info,
                                         tonari_request* request) {
  return started(symmetric(w_form(buf, counts, displs, types), comm, info), request);
}

extern "C" int tonari_alltoallw_inplace(void* buf, const int counts[], const MPI_Aint displs[],
                                        const MPI_Datatype types[], MPI_Comm comm, MPI_Info info) {
  return completed(symmetric(w_form(buf, counts, displs, types), comm, info));
}

extern "C" int tonari_alltoallv_inplace_general_init(void* buf, const int sendcounts[],
                                                     const MPI_Aint senddispls[],
                                                     const int recvcounts[],
                                                     const MPI_Aint recvdispls[], MPI_Datatype type,
                                                     MPI_Comm comm, MPI_Info info,
                                                     tonari_request* request) {
  return made(general(v_form(buf, sendcounts, senddispls, type),
                      v_form(buf, recvcounts, recvdispls, type), comm, info),
              request);
}

extern "C" int tonari_ialltoallv_inplace_general(void* buf, const int sendcounts[],
                                                 const MPI_Aint senddispls[],
                                                 const int recvcounts[],
                                                 const MPI_Aint recvdispls[], MPI_Datatype type,
                                                 MPI_Comm comm, MPI_Info info,
                                                 tonari_request* request) {
  return started(general(v_form(buf, sendcounts, senddispls, type),
                         v_form(buf, recvcounts, recvdispls, type), comm, info),
                 request);
}

extern "C" int tonari_alltoallv_inplace_general(void* buf, const int sendcounts[],
                                                const MPI_Aint senddispls[], const int recvcounts[],
                                                const MPI_Aint recvdispls[], MPI_Datatype type,
                                                MPI_Comm comm, MPI_Info info) {
  return completed(general(v_form(buf, sendcounts, senddispls, type),
                           v_form(buf, recvcounts, recvdispls, type), comm, info));
}

// ---- with counts of type MPI_Count (tonari/large_counts.h)

extern "C" int tonari_alltoall_inplace_init_c(void* buf, MPI_Count count, MPI_Datatype type,
                                              MPI_Comm comm, MPI_Info info,
                                              tonari_request* request) {
  return made(symmetric(regular(buf, count, type), comm, info), request);
}

extern "C" int tonari_ialltoall_inplace_c(void* buf, MPI_Count count, MPI_Datatype type,
                                          MPI_Comm comm, MPI_Info info, tonari_request* request) {
  return started(symmetric(regular(buf, count, type), comm, info), request);
}

extern "C" int tonari_alltoall_inplace_c(void* buf, MPI_Count count, MPI_Datatype type,
                                         MPI_Comm comm, MPI_Info info) {
  return completed(symmetric(regular(buf, count, type), comm, info));
}

extern "C" int tonari_alltoallv_inplace_init_c(void* buf, const MPI_Count counts[],
                                               const MPI_Aint displs[], MPI_Datatype type,
                                               MPI_Comm comm, MPI_Info info,
                                               tonari_request* request) {
  return made(symmetric(v_form(buf, counts, displs, type), comm, info), request);
}

extern "C" int tonari_ialltoallv_inplace_c(void* buf, const MPI_Count counts[],
                                           const MPI_Aint displs[], MPI_Datatype type,
                                           MPI_Comm comm, MPI_Info info, tonari_request* request) {
  return started(symmetric(v_form(buf, counts, displs, type), comm, info), request);
}

extern "C" int tonari_alltoallv_inplace_c(void* buf, const MPI_Count counts[],
                                          const MPI_Aint displs[], MPI_Datatype type, MPI_Comm comm,
                                          MPI_Info info) {
  return completed(symmetric(v_form(buf, counts, displs, type), comm, info));
}

extern "C" int tonari_alltoallw_inplace_init_c(void* buf, const MPI_Count counts[],
                                               const MPI_Aint displs[], const MPI_Datatype types[],
                                               MPI_Comm comm, MPI_Info info,
                                               tonari_request* request) {
  return made(symmetric(w_form(buf, counts, displs, types), comm, info), request);
}

extern "C" int tonari_ialltoallw_inplace_c(void* buf, const MPI_Count counts[],
                                           const MPI_Aint displs[], const MPI_Datatype types[],
                                           MPI_Comm comm, MPI_Info info, tonari_request* request) {
  return started(symmetric(w_form(buf, counts, displs, types), comm, info), request);
}

extern "C" int tonari_alltoallw_inplace_c(void* buf, const MPI_Count counts[],
                                          const MPI_Aint displs[], const MPI_Datatype types[],
                                          MPI_Comm comm, MPI_Info info) {
  return completed(symmetric(w_form(buf, counts, displs, types), comm, info));
}

extern "C" int tonari_alltoallv_inplace_general_init_c(void* buf, const MPI_Count sendcounts[],
                                                       const MPI_Aint senddispls[],
                                                       const MPI_Count recvcounts[],
                                                       const MPI_Aint recvdispls[],
                                                       MPI_Datatype type, MPI_Comm comm,
                                                       MPI_Info info, tonari_request* request) {
  return made(general(v_form(buf, sendcounts, senddispls, type),
                      v_form(buf, recvcounts, recvdispls, type), comm, info),
              request);
}

extern "C" int tonari_ialltoallv_inplace_general_c(void* buf, const MPI_Count sendcounts[],
                                                   const MPI_Aint senddispls[],
                                                   const MPI_Count recvcounts[],
                                                   const MPI_Aint recvdispls[], MPI_Datatype type,
                                                   MPI_Comm comm, MPI_Info info,
                                                   tonari_request* request) {
  return started(general(v_form(buf, sendcounts, senddispls, type),
                         v_form(buf, recvcounts, recvdispls, type), comm, info),
                 request);
}

extern "C" int tonari_alltoallv_inplace_general_c(void* buf, const MPI_Count sendcounts[],
                                                  const MPI_Aint senddispls[],
                                                  const MPI_Count recvcounts[],
                                                  const MPI_Aint recvdispls[], MPI_Datatype type,
                                                  MPI_Comm comm, MPI_Info info) {
  return completed(general(v_form(buf, sendcounts, senddispls, type),
                           v_form(buf, recvcounts, recvdispls, type), comm, info));
}
