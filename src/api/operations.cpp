// The persistent forms of the six operations.
#include "api/request.hpp"

using namespace tonari;

namespace {

int init(tonari_neighborhood near, MPI_Info info, tonari_request* request, const Call& call) {
  return init_request(request, [&](Output output) {
    require(near, "near");
    return prepare(near, call, Use::persistent, info, output);
  });
}

}  // namespace

extern "C" int tonari_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                    tonari_neighborhood near, MPI_Info info,
                                    tonari_request* request) {
  return init(near, info, request,
              {Collective::alltoall, regular(sendbuf, sendcount, sendtype),
               regular(recvbuf, recvcount, recvtype)});
}

extern "C" int tonari_alltoallv_init(const void* sendbuf, const int sendcounts[],
                                     const MPI_Aint senddispls[], MPI_Datatype sendtype,
                                     void* recvbuf, const int recvcounts[],
                                     const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                     tonari_neighborhood near, MPI_Info info,
                                     tonari_request* request) {
  return init(near, info, request,
              {Collective::alltoall, v_form(sendbuf, sendcounts, senddispls, sendtype),
               v_form(recvbuf, recvcounts, recvdispls, recvtype)});
}

extern "C" int tonari_alltoallw_init(const void* sendbuf, const int sendcounts[],
                                     const MPI_Aint senddispls[], const MPI_Datatype sendtypes[],
                                     void* recvbuf, const int recvcounts[],
                                     const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                     tonari_neighborhood near, MPI_Info info,
                                     tonari_request* request) {
  return init(near, info, request,
              {Collective::alltoall, w_form(sendbuf, sendcounts, senddispls, sendtypes),
               w_form(recvbuf, recvcounts, recvdispls, recvtypes)});
}

extern "C" int tonari_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                     void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                     tonari_neighborhood near, MPI_Info info,
                                     tonari_request* request) {
  return init(near, info, request,
              {Collective::allgather, regular(sendbuf, sendcount, sendtype),
               regular(recvbuf, recvcount, recvtype)});
}

extern "C" int tonari_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, const int recvcounts[],
                                      const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                      tonari_neighborhood near, MPI_Info info,
                                      tonari_request* request) {
  return init(near, info, request,
              {Collective::allgather, regular(sendbuf, sendcount, sendtype),
               v_form(recvbuf, recvcounts, recvdispls, recvtype)});
}

extern "C" int tonari_allgatherw_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, const int recvcounts[],
                                      const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                      tonari_neighborhood near, MPI_Info info,
                                      tonari_request* request) {
  return init(near, info, request,
              {Collective::allgather, regular(sendbuf, sendcount, sendtype),
               w_form(recvbuf, recvcounts, recvdispls, recvtypes)});
}
