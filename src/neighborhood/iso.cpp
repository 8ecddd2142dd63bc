// SPDX-License-Identifier: BSD-3-Clause
// The interface of Träff 2016, Listings 1 to 3: a neighborhood as an attribute of a communicator,
// and calls that make requests on it.
#include <tonari/iso.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/lasting.hpp"
#include "engine/wait/agree.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/owned_comm.hpp"
#include "mpi/owned_info.hpp"
#include "mpi/world.hpp"
#include "neighborhood/init_operation.hpp"
#include "neighborhood/inner_call.hpp"

using namespace tonari;

namespace {

// The data that isocomm and its duplicates share. Attribute callbacks run on all ranks, because
// MPI_Comm_dup and MPI_Comm_free are collective. So the last one is freed on all ranks in the same
// MPI_Comm_free.
struct Attached {
  tonari_neighborhood near;
  std::atomic<int> communicators;
};

// The numbers that the MPI has given out. Where sessions run without a world, the end of one may be
// the end of all: there they go with the last neighborhood.
struct MpiNumbers {
  std::mutex mutex;
  int key = MPI_KEYVAL_INVALID, error_code = MPI_ERR_OTHER;
  std::size_t neighborhoods = 0;
};
MpiNumbers& numbers() { return lasting<MpiNumbers>(); }

extern "C" int share(MPI_Comm, int, void*, void* value, void* copied, int* keep) {
  static_cast<Attached*>(value)->communicators += 1;
  *static_cast<void**>(copied) = value;
  *keep = 1;
  return MPI_SUCCESS;
}

extern "C" int release(MPI_Comm, int, void* value, void*) {
  auto* attached = static_cast<Attached*>(value);
  if (--attached->communicators > 0) return MPI_SUCCESS;
  const int code = tonari_neighborhood_free(&attached->near);
  delete attached;
  const std::lock_guard lock(numbers().mutex);
  if (--numbers().neighborhoods == 0 && !world_runs()) {
    MPI_Comm_free_keyval(&numbers().key);
    numbers().error_code = MPI_ERR_OTHER;
  }
  return code == TONARI_SUCCESS ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int attribute() {
  const std::lock_guard lock(numbers().mutex);
  int& key = numbers().key;
  if (key == MPI_KEYVAL_INVALID) MPI_Comm_create_keyval(share, release, &key, nullptr);
  return key;
}

int error_code_for_mpi() {
  const std::lock_guard lock(numbers().mutex);
  int& code = numbers().error_code;
  int kind = MPI_ERR_OTHER;
  if (code == MPI_ERR_OTHER && MPI_Add_error_class(&kind) == MPI_SUCCESS)
    MPI_Add_error_code(kind, &code);
  return code;
}

// Whose error handler is called; null: there is none.
MPI_Comm handling(MPI_Comm comm) {
  if (comm != MPI_COMM_NULL) return comm;
  return world_runs() ? MPI_COMM_WORLD : MPI_COMM_NULL;
}

// Calls the error handler, see "Errors" in iso.h; returns if the handler does.
int raise(MPI_Comm comm, int code) {
  if (code == TONARI_SUCCESS) return MPI_SUCCESS;
  if (!is_same_mpi()) return code;  // its handlers of errors are not those of `comm`
  comm = handling(comm);
  if (comm == MPI_COMM_NULL) return code;
  char sentence[MPI_MAX_ERROR_STRING] = "";  // also where no memory is left
  std::string_view(tonari_last_error()).copy(sentence, sizeof sentence - 1);
  MPI_Add_error_string(error_code_for_mpi(), sentence);
  MPI_Comm_call_errhandler(comm, error_code_for_mpi());
  return code;
}

int raise(int code) { return raise(MPI_COMM_NULL, code); }

Attached* attached_to(MPI_Comm isocomm) {
  if (isocomm == MPI_COMM_NULL) return nullptr;
  Attached* attached = nullptr;
  int found = 0;
  MPI_Comm_get_attr(isocomm, attribute(), &attached, &found);
  return found ? attached : nullptr;
}

enum class Way : std::uint8_t { as_chosen, direct };

// `call` lacks its neighborhood.
int init_on(MPI_Comm isocomm, Way way, Iso_request* request, Call call) {
  if (const int code = guarded([&] { require_same_mpi(isocomm); })) return code;
  const Attached* attached = attached_to(isocomm);
  if (!attached) {
    return raise(isocomm, record("`isocomm` has no isomorphic neighborhood; pass the one "
                                 "that Iso_neighborhood_create returned in isocomm",
                                 Errc::topology));
  }
  int code = TONARI_SUCCESS;
  const int made = guarded([&] {
    OwnedInfo info;
    if (way == Way::direct)
      run_collectively(isocomm, [&] { info = OwnedInfo("tonari_algorithm", "torus-direct"); });
    call.near = attached->near, call.info = info.get();
    code = init_operation(request, call);
  });
  return raise(isocomm, made == TONARI_SUCCESS ? code : made);
}

int require_one(const Iso_request* request) {
  return request ? TONARI_SUCCESS
                 : record("`request` is NULL; pass the address of an Iso_request", Errc::argument);
}

MPI_Comm with_attribute(MPI_Comm cartcomm, tonari_neighborhood near) {
  std::unique_ptr<Attached> attached;
  run_collectively(cartcomm, [&] {
    check_duplicates();
    attached.reset(new Attached{near, {1}});
  });
  MPI_Comm isocomm = duplicate_of(cartcomm);
  check_mpi(MPI_Comm_set_attr(isocomm, attribute(), attached.get()), "MPI_Comm_set_attr");
  attached.release();
  const std::lock_guard lock(numbers().mutex);
  ++numbers().neighborhoods;
  return isocomm;
}

}  // namespace

int Iso_neighborhood_create(MPI_Comm cartcomm, int s, int relative_coordinates[],
                            MPI_Comm* isocomm) {
  return Iso_neighborhood_create_with_info(cartcomm, s, relative_coordinates, MPI_INFO_NULL,
                                           isocomm);
}

int Iso_neighborhood_create_with_info(MPI_Comm cartcomm, int s, int relative_coordinates[],
                                      MPI_Info info, MPI_Comm* isocomm) {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  if (!isocomm)
    tonari_refuse(TONARI_ERR_ARGUMENT, "`isocomm` is NULL; pass the address of an MPI_Comm");
  int code = tonari_neighborhood_create_cart(cartcomm, s, relative_coordinates, info, &near);
  if (code != TONARI_SUCCESS) return raise(cartcomm, code);
  code = guarded([&] { *isocomm = with_attribute(cartcomm, near); });
  if (code != TONARI_SUCCESS) tonari_neighborhood_free(&near);
  return raise(cartcomm, code);
}

int Iso_neighbor_alltoall_init(void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               int recvcount, MPI_Datatype recvtype, MPI_Comm isocomm,
                               Iso_request* request) {
  return init_on(isocomm, Way::as_chosen, request,
                 {Collective::alltoall, regular(sendbuf, sendcount, sendtype),
                  regular(recvbuf, recvcount, recvtype)});
}

int Iso_neighbor_alltoall_direct_init(void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                      MPI_Comm isocomm, Iso_request* request) {
  return init_on(isocomm, Way::direct, request,
                 {Collective::alltoall, regular(sendbuf, sendcount, sendtype),
                  regular(recvbuf, recvcount, recvtype)});
}

int Iso_neighbor_allgather_init(void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                int recvcount, MPI_Datatype recvtype, MPI_Comm isocomm,
                                Iso_request* request) {
  return init_on(isocomm, Way::as_chosen, request,
                 {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                  regular(recvbuf, recvcount, recvtype)});
}

int Iso_neighbor_allgather_direct_init(void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                       void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                       MPI_Comm isocomm, Iso_request* request) {
  return init_on(isocomm, Way::direct, request,
                 {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                  regular(recvbuf, recvcount, recvtype)});
}

int Iso_neighbor_alltoallv_init(void* sendbuf, int sendcounts[], MPI_Aint senddispls[],
                                MPI_Datatype sendtype, void* recvbuf, int recvcounts[],
                                MPI_Aint recvdispls[], MPI_Datatype recvtype, MPI_Comm isocomm,
                                Iso_request* request) {
  return init_on(isocomm, Way::as_chosen, request,
                 {Collective::alltoall, v_form(sendbuf, sendcounts, senddispls, sendtype),
                  v_form(recvbuf, recvcounts, recvdispls, recvtype)});
}

int Iso_neighbor_alltoallv_direct_init(void* sendbuf, int sendcounts[], MPI_Aint senddispls[],
                                       MPI_Datatype sendtype, void* recvbuf, int recvcounts[],
                                       MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                       MPI_Comm isocomm, Iso_request* request) {
  return init_on(isocomm, Way::direct, request,
                 {Collective::alltoall, v_form(sendbuf, sendcounts, senddispls, sendtype),
                  v_form(recvbuf, recvcounts, recvdispls, recvtype)});
}

int Iso_neighbor_allgatherv_init(void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 int recvcounts[], MPI_Aint recvdispls[], MPI_Datatype recvtypes,
                                 MPI_Comm isocomm, Iso_request* request) {
  return init_on(isocomm, Way::as_chosen, request,
                 {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                  v_form(recvbuf, recvcounts, recvdispls, recvtypes)});
}

int Iso_neighbor_allgatherv_direct_init(void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                        void* recvbuf, int recvcounts[], MPI_Aint recvdispls[],
                                        MPI_Datatype recvtypes, MPI_Comm isocomm,
                                        Iso_request* request) {
  return init_on(isocomm, Way::direct, request,
                 {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                  v_form(recvbuf, recvcounts, recvdispls, recvtypes)});
}

int Iso_neighbor_alltoallw_init(void* sendbuf, int sendcounts[], MPI_Aint senddispls[],
                                MPI_Datatype sendtypes[], void* recvbuf, int recvcounts[],
                                MPI_Aint recvdispls[], MPI_Datatype recvtypes[], MPI_Comm isocomm,
                                Iso_request* request) {
  return init_on(isocomm, Way::as_chosen, request,
                 {Collective::alltoall, w_form(sendbuf, sendcounts, senddispls, sendtypes),
                  w_form(recvbuf, recvcounts, recvdispls, recvtypes)});
}

int Iso_neighbor_alltoallw_direct_init(void* sendbuf, int sendcounts[], MPI_Aint senddispls[],
                                       MPI_Datatype sendtypes[], void* recvbuf, int recvcounts[],
                                       MPI_Aint recvdispls[], MPI_Datatype recvtypes[],
                                       MPI_Comm isocomm, Iso_request* request) {
  return init_on(isocomm, Way::direct, request,
                 {Collective::alltoall, w_form(sendbuf, sendcounts, senddispls, sendtypes),
                  w_form(recvbuf, recvcounts, recvdispls, recvtypes)});
}

int Iso_neighbor_allgatherw_init(void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 int recvcounts[], MPI_Aint recvdispls[], MPI_Datatype recvtypes[],
                                 MPI_Comm isocomm, Iso_request* request) {
  return init_on(isocomm, Way::as_chosen, request,
                 {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                  w_form(recvbuf, recvcounts, recvdispls, recvtypes)});
}

int Iso_neighbor_allgatherw_direct_init(void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                        void* recvbuf, int recvcounts[], MPI_Aint recvdispls[],
                                        MPI_Datatype recvtypes[], MPI_Comm isocomm,
                                        Iso_request* request) {
  return init_on(isocomm, Way::direct, request,
                 {Collective::allgather, regular(sendbuf, sendcount, sendtype),
                  w_form(recvbuf, recvcounts, recvdispls, recvtypes)});
}

int Iso_istart(Iso_request* request) {
  if (const int code = require_one(request)) return raise(code);
  return raise(tonari_start(*request));
}

int Iso_start(Iso_request* request) {
  if (const int code = Iso_istart(request)) return code;
  return Iso_wait(request);
}

int Iso_wait(Iso_request* request) {
  if (const int code = require_one(request)) return raise(code);
  return raise(tonari_wait(*request));
}

int Iso_test(Iso_request* request, int* flag) {
  if (const int code = require_one(request)) return raise(code);
  return raise(tonari_test(*request, flag));
}

int Iso_request_free(Iso_request* request) {
  if (const int code = require_one(request)) return raise(code);
  return raise(tonari_request_free(request));
}
