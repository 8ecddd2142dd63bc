// The six operations as single calls, blocking and non-blocking.
#include "api/request.hpp"

using namespace tonari;

namespace {

// On a neighborhood with static buffers, after the first call of the operation: no rank asks the
// others any more. A rank that breaks the promise must take part all the same, since the others
// count on it, and says so afterwards.
void require_promised(const BoundCall& bound, const tonari_neighborhood_s& near, const Call& call,
                      Output output) {
  Prepared& prepared = bound.prepared();
  std::optional<Error> broken = bound.difference(call, near.context->place());
  if (output.name && !broken) broken = caught([&] { require(output.address, output.name); });
  if (prepared.running) {
    prepared.wait();
    broken = Error(Errc::active, text("an exchange of ", call.name(),
                                      " was still in flight when the next began; with "
                                      "cdag_static_buffers both write the same "
                                      "buffers, so complete one first (both are complete now)"));
  }
  // the last call's is still in use
  if (!broken && !prepared.spare)
    broken = caught([&] { prepared.spare = std::make_unique<tonari_request_s>(); });
  if (!broken) return;
  prepared.start();
  prepared.wait();
  throw *broken;
}

// Ready to be started.
std::shared_ptr<Prepared> ready(tonari_neighborhood near, const Call& call, Output output) {
  require(near, "near");
  const BoundCall& bound = near->bound[call.operation()];
  if (!bound) return prepare(near, call, Use::once, MPI_INFO_NULL, output);
  require_promised(bound, *near, call, output);
  return bound.shared();
}

int completed(tonari_neighborhood near, const Call& call) {
  return run_once([&](Output output) { return ready(near, call, output); });
}

int started(tonari_neighborhood near, tonari_request* request, const Call& call) {
  return start_once(request, [&](Output output) { return ready(near, call, output); });
}

}  // namespace

extern "C" int tonari_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                               void* recvbuf, int recvcount, MPI_Datatype recvtype,
                               tonari_neighborhood near) {
  return completed(near, {Collective::alltoall, regular(sendbuf, sendcount, sendtype),
                          regular(recvbuf, recvcount, recvtype)});
}

extern "C" int tonari_ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                tonari_neighborhood near, tonari_request* request) {
  return started(near, request,
                 {Collective::alltoall, regular(sendbuf, sendcount, sendtype),
                  regular(recvbuf, recvcount, recvtype)});
}

extern "C" int tonari_alltoallv(const void* sendbuf, const int sendcounts[],
                                const MPI_Aint senddispls[], MPI_Datatype sendtype, void* recvbuf,
                                const int recvcounts[], const MPI_Aint recvdispls[],
                                MPI_Datatype recvtype, tonari_neighborhood near) {
  return completed(near, {Collective::alltoall, v_form(sendbuf, sendcounts, senddispls, sendtype),
                          v_form(recvbuf, recvcounts, recvdispls, recvtype)});
}

extern "C" int tonari_ialltoallv(const void* sendbuf, const int sendcounts[],
                                 const MPI_Aint senddispls[], MPI_Datatype sendtype, void* recvbuf,
                                 const int recvcounts[], const MPI_Aint recvdispls[],
                                 MPI_Datatype recvtype, tonari_neighborhood near,
                                 tonari_request* request) {
  return started(near, request,
                 {Collective::alltoall, v_form(sendbuf, sendcounts, senddispls, sendtype),
                  v_form(recvbuf, recvcounts, recvdispls, recvtype)});
}

extern "C" int tonari_alltoallw(const void* sendbuf, const int sendcounts[],
                                const MPI_Aint senddispls[], const MPI_Datatype sendtypes[],
                                void* recvbuf, const int recvcounts[], const MPI_Aint recvdispls[],
                                const MPI_Datatype recvtypes[], tonari_neighborhood near) {
  return completed(near, {Collective::alltoall, w_form(sendbuf, sendcounts, senddispls, sendtypes),
                          w_form(recvbuf, recvcounts, recvdispls, recvtypes)});
}

extern "C" int tonari_ialltoallw(const void* sendbuf, const int sendcounts[],
                                 const MPI_Aint senddispls[], const MPI_Datatype sendtypes[],
                                 void* recvbuf, const int recvcounts[], const MPI_Aint recvdispls[],
                                 const MPI_Datatype recvtypes[], tonari_neighborhood near,
                                 tonari_request* request) {
  return started(near, request,
                 {Collective::alltoall, w_form(sendbuf, sendcounts, senddispls, sendtypes),
                  w_form(recvbuf, recvcounts, recvdispls, recvtypes)});
}

extern "C" int tonari_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                tonari_neighborhood near) {
  return completed(near, {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                          regular(recvbuf, recvcount, recvtype)});
}

extern "C" int tonari_iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                 tonari_neighborhood near, tonari_request* request) {
  return started(near, request,
                 {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                  regular(recvbuf, recvcount, recvtype)});
}

extern "C" int tonari_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, const int recvcounts[], const MPI_Aint recvdispls[],
                                 MPI_Datatype recvtype, tonari_neighborhood near) {
  return completed(near, {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                          v_form(recvbuf, recvcounts, recvdispls, recvtype)});
}

extern "C" int tonari_iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, const int recvcounts[],
                                  const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                  tonari_neighborhood near, tonari_request* request) {
  return started(near, request,
                 {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                  v_form(recvbuf, recvcounts, recvdispls, recvtype)});
}

extern "C" int tonari_allgatherw(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, const int recvcounts[], const MPI_Aint recvdispls[],
                                 const MPI_Datatype recvtypes[], tonari_neighborhood near) {
  return completed(near, {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                          w_form(recvbuf, recvcounts, recvdispls, recvtypes)});
}

extern "C" int tonari_iallgatherw(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, const int recvcounts[],
                                  const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                  tonari_neighborhood near, tonari_request* request) {
  return started(near, request,
                 {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                  w_form(recvbuf, recvcounts, recvdispls, recvtypes)});
}
