// The in-place all-to-all exchanges as C functions: persistent, non-blocking, blocking.
#include "api/in_place.hpp"
#include "api/request.hpp"

using namespace tonari;

namespace {

// What is called: send is empty if it is symmetric.
struct InPlaceCall {
  BufferArguments blocks, send = {};
  bool general = false;
  MPI_Comm comm;
  MPI_Info info;
};

auto preparing(const InPlaceCall& call) {
  return [&call](Output output) {
    require_comm(call.comm, "comm");
    return call.general ? prepare_general(call.send, call.blocks, call.comm, call.info, output)
                        : prepare_symmetric(call.blocks, call.comm, call.info, output);
  };
}

int made(const InPlaceCall& call, tonari_request* request) {
  return init_request(request, preparing(call));
}
int started(const InPlaceCall& call, tonari_request* request) {
  return start_once(request, preparing(call));
}
int completed(const InPlaceCall& call) { return run_once(preparing(call)); }

InPlaceCall regular_call(void* buf, int count, MPI_Datatype type, MPI_Comm comm, MPI_Info info) {
  return {regular(buf, count, type), {}, false, comm, info};
}

InPlaceCall v_call(void* buf, const int counts[], const MPI_Aint displs[], MPI_Datatype type,
                   MPI_Comm comm, MPI_Info info) {
  return {v_form(buf, counts, displs, type), {}, false, comm, info};
}

InPlaceCall w_call(void* buf, const int counts[], const MPI_Aint displs[],
                   const MPI_Datatype types[], MPI_Comm comm, MPI_Info info) {
  return {w_form(buf, counts, displs, types), {}, false, comm, info};
}

InPlaceCall general_call(void* buf, const int sendcounts[], const MPI_Aint senddispls[],
                         const int recvcounts[], const MPI_Aint recvdispls[], MPI_Datatype type,
                         MPI_Comm comm, MPI_Info info) {
  return {v_form(buf, recvcounts, recvdispls, type), v_form(buf, sendcounts, senddispls, type),
          true, comm, info};
}

}  // namespace

extern "C" int tonari_alltoall_inplace_init(void* buf, int count, MPI_Datatype type, MPI_Comm comm,
                                            MPI_Info info, tonari_request* request) {
  return made(regular_call(buf, count, type, comm, info), request);
}

extern "C" int tonari_alltoallv_inplace_init(void* buf, const int counts[], const MPI_Aint displs[],
                                             MPI_Datatype type, MPI_Comm comm, MPI_Info info,
                                             tonari_request* request) {
  return made(v_call(buf, counts, displs, type, comm, info), request);
}

extern "C" int tonari_alltoallw_inplace_init(void* buf, const int counts[], const MPI_Aint displs[],
                                             const MPI_Datatype types[], MPI_Comm comm,
                                             MPI_Info info, tonari_request* request) {
  return made(w_call(buf, counts, displs, types, comm, info), request);
}

extern "C" int tonari_alltoallv_inplace_general_init(void* buf, const int sendcounts[],
                                                     const MPI_Aint senddispls[],
                                                     const int recvcounts[],
                                                     const MPI_Aint recvdispls[], MPI_Datatype type,
                                                     MPI_Comm comm, MPI_Info info,
                                                     tonari_request* request) {
  return made(general_call(buf, sendcounts, senddispls, recvcounts, recvdispls, type, comm, info),
              request);
}

extern "C" int tonari_ialltoall_inplace(void* buf, int count, MPI_Datatype type, MPI_Comm comm,
                                        MPI_Info info, tonari_request* request) {
  return started(regular_call(buf, count, type, comm, info), request);
}

extern "C" int tonari_ialltoallv_inplace(void* buf, const int counts[], const MPI_Aint displs[],
                                         MPI_Datatype type, MPI_Comm comm, MPI_Info info,
                                         tonari_request* request) {
  return started(v_call(buf, counts, displs, type, comm, info), request);
}

extern "C" int tonari_ialltoallw_inplace(void* buf, const int counts[], const MPI_Aint displs[],
                                         const MPI_Datatype types[], MPI_Comm comm, MPI_Info info,
                                         tonari_request* request) {
  return started(w_call(buf, counts, displs, types, comm, info), request);
}

extern "C" int tonari_ialltoallv_inplace_general(void* buf, const int sendcounts[],
                                                 const MPI_Aint senddispls[],
                                                 const int recvcounts[],
                                                 const MPI_Aint recvdispls[], MPI_Datatype type,
                                                 MPI_Comm comm, MPI_Info info,
                                                 tonari_request* request) {
  return started(
      general_call(buf, sendcounts, senddispls, recvcounts, recvdispls, type, comm, info), request);
}

extern "C" int tonari_alltoall_inplace(void* buf, int count, MPI_Datatype type, MPI_Comm comm,
                                       MPI_Info info) {
  return completed(regular_call(buf, count, type, comm, info));
}

extern "C" int tonari_alltoallv_inplace(void* buf, const int counts[], const MPI_Aint displs[],
                                        MPI_Datatype type, MPI_Comm comm, MPI_Info info) {
  return completed(v_call(buf, counts, displs, type, comm, info));
}

extern "C" int tonari_alltoallw_inplace(void* buf, const int counts[], const MPI_Aint displs[],
                                        const MPI_Datatype types[], MPI_Comm comm, MPI_Info info) {
  return completed(w_call(buf, counts, displs, types, comm, info));
}

extern "C" int tonari_alltoallv_inplace_general(void* buf, const int sendcounts[],
                                                const MPI_Aint senddispls[], const int recvcounts[],
                                                const MPI_Aint recvdispls[], MPI_Datatype type,
                                                MPI_Comm comm, MPI_Info info) {
  return completed(
      general_call(buf, sendcounts, senddispls, recvcounts, recvdispls, type, comm, info));
}
