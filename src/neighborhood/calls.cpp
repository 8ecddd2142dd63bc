// SPDX-License-Identifier: BSD-3-Clause
// The six operations as C functions: tonari_alltoall_init, tonari_alltoall, tonari_ialltoall, and
// the same for alltoallv, alltoallw, allgather, allgatherv and allgatherw; with _c at the end their
// counts are of type MPI_Count.
#include "neighborhood/first_one_shots.hpp"
#include "neighborhood/init_operation.hpp"
#include "neighborhood/request.hpp"

using namespace tonari;

namespace {

// On a neighborhood with static buffers, after the first call of the operation, no rank asks the
// others any more. A rank that breaks the promise must still take part, because the others count on
// it; it reports the error afterwards.
void require_promised(const BoundCall& bound, const Call& call, Output output) {
  Prepared& prepared = bound.prepared();
  std::optional<Error> broken = error_of([] { throw_refusal(); });
  if (!broken) broken = bound.difference(call, call.near->context->topology());
  if (output.name && !broken) broken = error_of([&] { require(output.address, output.name); });
  if (prepared.running()) {
    prepared.wait();
    broken = Error(Errc::active, text("an exchange of ", call.name(),
                                      " was still in flight when the next began; with "
                                      "cdag_static_buffers both write the same "
                                      "buffers, so complete one first (both are complete now)"));
  }
  // the request of the last call is still in use
  if (!broken && !prepared.spare)
    broken = error_of([&] { prepared.spare = std::make_unique<tonari_request_s>(); });
  if (!broken) return;
  prepared.start();
  prepared.wait();
  throw *broken;
}

// Makes the request ready to be started.
std::shared_ptr<Prepared> ready(const Call& call, Output output) {
  require(call.near, "near");
  const BoundCall* const bound = call.near->bound[call.operation()].get();
  if (!bound) return prepare(call, Use::one_shot, output);
  require_promised(*bound, call, output);
  return bound->shared();
}

// What a one-shot call goes by; null: by what is prepared for it.
OneShots* one_shots_for(const Call& call, Output output) {
  require(call.near, "near");
  return call.near->one_shots ? call.near->one_shots.get() : first_one_shots(call, output);
}

int completed(const Call& call) {
  return guarded([&] {
    if (OneShots* const one_shots = one_shots_for(call, inside))
      one_shots->run(call);
    else
      run_to_end(*recorded(ready(call, inside), CalledBy::one_shot));
  });
}

int started(tonari_request* request, const Call& call) {
  return start_one_shot(request, [&](Output output) {
    OneShots* const one_shots = one_shots_for(call, output);
    return one_shots ? one_shots->prepare(call, output) : ready(call, output);
  });
}

}  // namespace

extern "C" int tonari_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                    tonari_neighborhood near, MPI_Info info,
                                    tonari_request* request) {
  return init_operation(request, {Collective::alltoall, regular(sendbuf, sendcount, sendtype),
                                  regular(recvbuf, recvcount, recvtype), near, info});
}

extern "C" int tonari_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                               void* recvbuf, int recvcount, MPI_Datatype recvtype,
                               tonari_neighborhood near) {
  return completed({Collective::alltoall, regular(sendbuf, sendcount, sendtype),
                    regular(recvbuf, recvcount, recvtype), near});
}

extern "C" int tonari_ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                tonari_neighborhood near, tonari_request* request) {
  return started(request, {Collective::alltoall, regular(sendbuf, sendcount, sendtype),
                           regular(recvbuf, recvcount, recvtype), near});
}

extern "C" int tonari_alltoallv_init(const void* sendbuf, const int sendcounts[],
                                     const MPI_Aint senddispls[], MPI_Datatype sendtype,
                                     void* recvbuf, const int recvcounts[],
                                     const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                     tonari_neighborhood near, MPI_Info info,
                                     tonari_request* request) {
  return init_operation(request,
                        {Collective::alltoall, v_form(sendbuf, sendcounts, senddispls, sendtype),
                         v_form(recvbuf, recvcounts, recvdispls, recvtype), near, info});
}

extern "C" int tonari_alltoallv(const void* sendbuf, const int sendcounts[],
                                const MPI_Aint senddispls[], MPI_Datatype sendtype, void* recvbuf,
                                const int recvcounts[], const MPI_Aint recvdispls[],
                                MPI_Datatype recvtype, tonari_neighborhood near) {
  return completed({Collective::alltoall, v_form(sendbuf, sendcounts, senddispls, sendtype),
                    v_form(recvbuf, recvcounts, recvdispls, recvtype), near});
}

extern "C" int tonari_ialltoallv(const void* sendbuf, const int sendcounts[],
                                 const MPI_Aint senddispls[], MPI_Datatype sendtype, void* recvbuf,
                                 const int recvcounts[], const MPI_Aint recvdispls[],
                                 MPI_Datatype recvtype, tonari_neighborhood near,
                                 tonari_request* request) {
  return started(request, {Collective::alltoall, v_form(sendbuf, sendcounts, senddispls, sendtype),
                           v_form(recvbuf, recvcounts, recvdispls, recvtype), near});
}

extern "C" int tonari_alltoallw_init(const void* sendbuf, const int sendcounts[],
                                     const MPI_Aint senddispls[], const MPI_Datatype sendtypes[],
                                     void* recvbuf, const int recvcounts[],
                                     const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                     tonari_neighborhood near, MPI_Info info,
                                     tonari_request* request) {
  return init_operation(request,
                        {Collective::alltoall, w_form(sendbuf, sendcounts, senddispls, sendtypes),
                         w_form(recvbuf, recvcounts, recvdispls, recvtypes), near, info});
}

extern "C" int tonari_alltoallw(const void* sendbuf, const int sendcounts[],
                                const MPI_Aint senddispls[], const MPI_Datatype sendtypes[],
                                void* recvbuf, const int recvcounts[], const MPI_Aint recvdispls[],
                                const MPI_Datatype recvtypes[], tonari_neighborhood near) {
  return completed({Collective::alltoall, w_form(sendbuf, sendcounts, senddispls, sendtypes),
                    w_form(recvbuf, recvcounts, recvdispls, recvtypes), near});
}

extern "C" int tonari_ialltoallw(const void* sendbuf, const int sendcounts[],
                                 const MPI_Aint senddispls[], const MPI_Datatype sendtypes[],
                                 void* recvbuf, const int recvcounts[], const MPI_Aint recvdispls[],
                                 const MPI_Datatype recvtypes[], tonari_neighborhood near,
                                 tonari_request* request) {
  return started(request, {Collective::alltoall, w_form(sendbuf, sendcounts, senddispls, sendtypes),
                           w_form(recvbuf, recvcounts, recvdispls, recvtypes), near});
}

extern "C" int tonari_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                     void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                     tonari_neighborhood near, MPI_Info info,
                                     tonari_request* request) {
  return init_operation(request, {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                                  regular(recvbuf, recvcount, recvtype), near, info});
}

extern "C" int tonari_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                tonari_neighborhood near) {
  return completed({Collective::allgather, regular(sendbuf, sendcount, sendtype),
                    regular(recvbuf, recvcount, recvtype), near});
}

extern "C" int tonari_iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                 tonari_neighborhood near, tonari_request* request) {
  return started(request, {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                           regular(recvbuf, recvcount, recvtype), near});
}

extern "C" int tonari_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, const int recvcounts[],
                                      const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                      tonari_neighborhood near, MPI_Info info,
                                      tonari_request* request) {
  return init_operation(request, {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                                  v_form(recvbuf, recvcounts, recvdispls, recvtype), near, info});
}

extern "C" int tonari_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, const int recvcounts[], const MPI_Aint recvdispls[],
                                 MPI_Datatype recvtype, tonari_neighborhood near) {
  return completed({Collective::allgather, regular(sendbuf, sendcount, sendtype),
                    v_form(recvbuf, recvcounts, recvdispls, recvtype), near});
}

extern "C" int tonari_iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, const int recvcounts[],
                                  const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                  tonari_neighborhood near, tonari_request* request) {
  return started(request, {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                           v_form(recvbuf, recvcounts, recvdispls, recvtype), near});
}

extern "C" int tonari_allgatherw_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, const int recvcounts[],
                                      const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                      tonari_neighborhood near, MPI_Info info,
                                      tonari_request* request) {
  return init_operation(request, {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                                  w_form(recvbuf, recvcounts, recvdispls, recvtypes), near, info});
}

extern "C" int tonari_allgatherw(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, const int recvcounts[], const MPI_Aint recvdispls[],
                                 const MPI_Datatype recvtypes[], tonari_neighborhood near) {
  return completed({Collective::allgather, regular(sendbuf, sendcount, sendtype),
                    w_form(recvbuf, recvcounts, recvdispls, recvtypes), near});
}

extern "C" int tonari_iallgatherw(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, const int recvcounts[],
                                  const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                  tonari_neighborhood near, tonari_request* request) {
  return started(request, {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                           w_form(recvbuf, recvcounts, recvdispls, recvtypes), near});
}

// ---- with counts of type MPI_Count (tonari/large_counts.h)

extern "C" int tonari_alltoall_init_c(const void* sendbuf, MPI_Count sendcount,
                                      MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                      MPI_Datatype recvtype, tonari_neighborhood near,
                                      MPI_Info info, tonari_request* request) {
  return init_operation(request, {Collective::alltoall, regular(sendbuf, sendcount, sendtype),
                                  regular(recvbuf, recvcount, recvtype), near, info});
}

extern "C" int tonari_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                 tonari_neighborhood near) {
  return completed({Collective::alltoall, regular(sendbuf, sendcount, sendtype),
                    regular(recvbuf, recvcount, recvtype), near});
}

extern "C" int tonari_ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  tonari_neighborhood near, tonari_request* request) {
  return started(request, {Collective::alltoall, regular(sendbuf, sendcount, sendtype),
                           regular(recvbuf, recvcount, recvtype), near});
}

extern "C" int tonari_alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                       const MPI_Aint senddispls[], MPI_Datatype sendtype,
                                       void* recvbuf, const MPI_Count recvcounts[],
                                       const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                       tonari_neighborhood near, MPI_Info info,
                                       tonari_request* request) {
  return init_operation(request,
                        {Collective::alltoall, v_form(sendbuf, sendcounts, senddispls, sendtype),
                         v_form(recvbuf, recvcounts, recvdispls, recvtype), near, info});
}

extern "C" int tonari_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                  const MPI_Aint senddispls[], MPI_Datatype sendtype, void* recvbuf,
                                  const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                  MPI_Datatype recvtype, tonari_neighborhood near) {
  return completed({Collective::alltoall, v_form(sendbuf, sendcounts, senddispls, sendtype),
                    v_form(recvbuf, recvcounts, recvdispls, recvtype), near});
}

extern "C" int tonari_ialltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint senddispls[], MPI_Datatype sendtype,
                                   void* recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                   tonari_neighborhood near, tonari_request* request) {
  return started(request, {Collective::alltoall, v_form(sendbuf, sendcounts, senddispls, sendtype),
                           v_form(recvbuf, recvcounts, recvdispls, recvtype), near});
}

extern "C" int tonari_alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                       const MPI_Aint senddispls[], const MPI_Datatype sendtypes[],
                                       void* recvbuf, const MPI_Count recvcounts[],
                                       const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                       tonari_neighborhood near, MPI_Info info,
                                       tonari_request* request) {
  return init_operation(request,
                        {Collective::alltoall, w_form(sendbuf, sendcounts, senddispls, sendtypes),
                         w_form(recvbuf, recvcounts, recvdispls, recvtypes), near, info});
}

extern "C" int tonari_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
                                  const MPI_Aint senddispls[], const MPI_Datatype sendtypes[],
                                  void* recvbuf, const MPI_Count recvcounts[],
                                  const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                  tonari_neighborhood near) {
  return completed({Collective::alltoall, w_form(sendbuf, sendcounts, senddispls, sendtypes),
                    w_form(recvbuf, recvcounts, recvdispls, recvtypes), near});
}

extern "C" int tonari_ialltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint senddispls[], const MPI_Datatype sendtypes[],
                                   void* recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                   tonari_neighborhood near, tonari_request* request) {
  return started(request, {Collective::alltoall, w_form(sendbuf, sendcounts, senddispls, sendtypes),
                           w_form(recvbuf, recvcounts, recvdispls, recvtypes), near});
}

extern "C" int tonari_allgather_init_c(const void* sendbuf, MPI_Count sendcount,
                                       MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                       MPI_Datatype recvtype, tonari_neighborhood near,
                                       MPI_Info info, tonari_request* request) {
  return init_operation(request, {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                                  regular(recvbuf, recvcount, recvtype), near, info});
}

extern "C" int tonari_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  tonari_neighborhood near) {
  return completed({Collective::allgather, regular(sendbuf, sendcount, sendtype),
                    regular(recvbuf, recvcount, recvtype), near});
}

extern "C" int tonari_iallgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   tonari_neighborhood near, tonari_request* request) {
  return started(request, {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                           regular(recvbuf, recvcount, recvtype), near});
}

extern "C" int tonari_allgatherv_init_c(const void* sendbuf, MPI_Count sendcount,
                                        MPI_Datatype sendtype, void* recvbuf,
                                        const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                        MPI_Datatype recvtype, tonari_neighborhood near,
                                        MPI_Info info, tonari_request* request) {
  return init_operation(request, {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                                  v_form(recvbuf, recvcounts, recvdispls, recvtype), near, info});
}

extern "C" int tonari_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                   tonari_neighborhood near) {
  return completed({Collective::allgather, regular(sendbuf, sendcount, sendtype),
                    v_form(recvbuf, recvcounts, recvdispls, recvtype), near});
}

extern "C" int tonari_iallgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                    tonari_neighborhood near, tonari_request* request) {
  return started(request, {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                           v_form(recvbuf, recvcounts, recvdispls, recvtype), near});
}

extern "C" int tonari_allgatherw_init_c(const void* sendbuf, MPI_Count sendcount,
                                        MPI_Datatype sendtype, void* recvbuf,
                                        const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                        const MPI_Datatype recvtypes[], tonari_neighborhood near,
                                        MPI_Info info, tonari_request* request) {
  return init_operation(request, {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                                  w_form(recvbuf, recvcounts, recvdispls, recvtypes), near, info});
}

extern "C" int tonari_allgatherw_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                   tonari_neighborhood near) {
  return completed({Collective::allgather, regular(sendbuf, sendcount, sendtype),
                    w_form(recvbuf, recvcounts, recvdispls, recvtypes), near});
}

extern "C" int tonari_iallgatherw_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                    tonari_neighborhood near, tonari_request* request) {
  return started(request, {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                           w_form(recvbuf, recvcounts, recvdispls, recvtypes), near});
}
