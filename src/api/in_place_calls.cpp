// SPDX-License-Identifier: BSD-3-Clause
// The in-place all-to-all exchanges as C functions: tonari_alltoall_inplace_init,
// tonari_ialltoall_inplace, tonari_alltoall_inplace, and the same of the other three forms; with _c
// at the end their counts are of type MPI_Count.
#include "api/group.hpp"
#include "api/in_place.hpp"

using namespace tonari;

namespace {

// What is called: send is empty if it is symmetric.
struct InPlaceCall {
  BufferArguments blocks, send = {};
  bool general = false;
  MPI_Comm comm;
  MPI_Info info;
};

auto preparing(const InPlaceCall& call, Use use) {
  return [&call, use](Output output) {
    require_comm(call.comm, "comm");
    return call.general ? prepare_general(call.send, call.blocks, call.comm, call.info, output)
                        : prepare_symmetric(call.blocks, call.comm, use, call.info, output);
  };
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
  return start_once(request, preparing(call, Use::once));
}
int completed(const InPlaceCall& call) { return run_once(preparing(call, Use::once)); }

}  // namespace

// Each form as parameters, and as what is made of them. Integer: the type of counts.
#define PARAMETERS_regular(Integer) void *buf, Integer count, MPI_Datatype type
#define PARAMETERS_v_form(Integer) \
  void *buf, const Integer counts[], const MPI_Aint displs[], MPI_Datatype type
#define PARAMETERS_w_form(Integer) \
  void *buf, const Integer counts[], const MPI_Aint displs[], const MPI_Datatype types[]
#define PARAMETERS_general(Integer)                                                               \
  void *buf, const Integer sendcounts[], const MPI_Aint senddispls[], const Integer recvcounts[], \
      const MPI_Aint recvdispls[], MPI_Datatype type
#define GIVEN_regular regular(buf, count, type), {}, false
#define GIVEN_v_form v_form(buf, counts, displs, type), {}, false
#define GIVEN_w_form w_form(buf, counts, displs, types), {}, false
#define GIVEN_general \
  v_form(buf, recvcounts, recvdispls, type), v_form(buf, sendcounts, senddispls, type), true

// suffix: of the functions whose counts have this type.
#define IN_PLACE_WITH(suffix, Integer, name, form)                                                 \
  extern "C" int tonari_##name##_init##suffix(PARAMETERS_##form(Integer), MPI_Comm comm,           \
                                              MPI_Info info, tonari_request* request) {            \
    return made({GIVEN_##form, comm, info}, request);                                              \
  }                                                                                                \
  extern "C" int tonari_i##name##suffix(PARAMETERS_##form(Integer), MPI_Comm comm, MPI_Info info,  \
                                        tonari_request* request) {                                 \
    return started({GIVEN_##form, comm, info}, request);                                           \
  }                                                                                                \
  extern "C" int tonari_##name##suffix(PARAMETERS_##form(Integer), MPI_Comm comm, MPI_Info info) { \
    return completed({GIVEN_##form, comm, info});                                                  \
  }
#define IN_PLACE(name, form)       \
  IN_PLACE_WITH(, int, name, form) \
  IN_PLACE_WITH(_c, MPI_Count, name, form)

IN_PLACE(alltoall_inplace, regular)
IN_PLACE(alltoallv_inplace, v_form)
IN_PLACE(alltoallw_inplace, w_form)
IN_PLACE(alltoallv_inplace_general, general)

#undef PARAMETERS_regular
#undef PARAMETERS_v_form
#undef PARAMETERS_w_form
#undef PARAMETERS_general
#undef GIVEN_regular
#undef GIVEN_v_form
#undef GIVEN_w_form
#undef GIVEN_general
#undef IN_PLACE_WITH
#undef IN_PLACE
