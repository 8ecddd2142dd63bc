// SPDX-License-Identifier: BSD-3-Clause
// Blocking neighborhood collectives with large counts (_c, MPI 4). Counts that fit become int.
// A block that has more elements becomes one element of a derived type. Which of the two a rank
// does is no other rank's concern: both ends see the same bytes.
#include <algorithm>
#include <climits>
#include <utility>

#include "preload/blocking_call.hpp"
#include "preload/operations.hpp"

#if MPI_VERSION >= 4

namespace tonari::preload {
namespace {

bool fits(MPI_Count count) { return count <= INT_MAX; }
bool all_fit(const MPI_Count counts[], int blocks) {
  return blocks == 0 || !counts || std::all_of(counts, counts + blocks, fits);
}

// Of so many elements, as types with int counts: those can be asked what they are made of.
MPI_Datatype type_of_many(MPI_Count count, MPI_Datatype type) {
  constexpr MPI_Count run = 1 << 30;
  const int ones[] = {1, 1};
  MPI_Aint low = 0, extent = 0;
  MPI_Datatype of_run = MPI_DATATYPE_NULL, parts[2], all = MPI_DATATYPE_NULL;
  PMPI_Type_get_extent(type, &low, &extent);
  PMPI_Type_contiguous(static_cast<int>(run), type, &of_run);
  PMPI_Type_contiguous(static_cast<int>(count / run), of_run, &parts[0]);
  PMPI_Type_contiguous(static_cast<int>(count % run), type, &parts[1]);
  const MPI_Aint at[] = {0, static_cast<MPI_Aint>(count / run * run) * extent};
  PMPI_Type_create_struct(2, ones, at, parts, &all);
  PMPI_Type_commit(&all);
  for (MPI_Datatype* part : {&of_run, &parts[0], &parts[1]}) PMPI_Type_free(part);
  return all;
}

class TypeOfMany {
 public:
  TypeOfMany() = default;
  TypeOfMany(MPI_Count count, MPI_Datatype type) : type_(type_of_many(count, type)) {}
  ~TypeOfMany() {
    if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
  }
  TypeOfMany(TypeOfMany&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  TypeOfMany(const TypeOfMany&) = delete;
  TypeOfMany& operator=(const TypeOfMany&) = delete;
  TypeOfMany& operator=(TypeOfMany&&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

std::uint64_t bytes_of_many(MPI_Count count, Handle type) {
  return bytes_of(1, type) * static_cast<std::uint64_t>(count);
}

// One side of a call with the same count for all blocks, as int.
struct RegularSide {
  RegularSide(MPI_Count given, Handle type_given)
      : many(fits(given) ? TypeOfMany() : TypeOfMany(given, type_of(type_given))),
        count(fits(given) ? static_cast<int>(given) : 1),
        type(fits(given) ? type_of(type_given) : many.get()) {}
  TypeOfMany many;
  int count;
  MPI_Datatype type;
};

// One side with a count for each block: as w forms have it. `types`: null, then all are `type`, and
// displacements count elements of it.
struct BlocksSide {
  BlocksSide(const MPI_Count given[], const MPI_Aint displs[], const MPI_Datatype types_given[],
             Handle type, int blocks) {
    MPI_Aint low = 0, step = 1;
    if (!types_given && blocks > 0) PMPI_Type_get_extent(type_of(type), &low, &step);
    for (int i = 0; i < blocks; ++i) {
      MPI_Datatype element = types_given ? types_given[i] : type_of(type);
      if (!fits(given[i])) element = made.emplace_back(given[i], element).get();
      counts.push_back(fits(given[i]) ? static_cast<int>(given[i]) : 1);
      types.push_back(element), at.push_back(displs[i] * step);
    }
  }
  std::vector<TypeOfMany> made;
  std::vector<int> counts;
  std::vector<MPI_Aint> at;
  std::vector<MPI_Datatype> types;
};

std::vector<int> narrow(const MPI_Count counts[], int blocks) {
  return counts ? std::vector<int>(counts, counts + blocks) : std::vector<int>();
}

struct LargeAlltoall {
  static constexpr Kind kind = Kind::alltoall;
  static constexpr bool all_know = false;
  const void* sendbuf;
  MPI_Count sendcount;
  Handle sendtype;
  void* recvbuf;
  MPI_Count recvcount;
  Handle recvtype;

  template <class Function>
  int native(Function* function, Handle comm) const {
    return function(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  }
  int exchange(const Communicator& on) const {
    const RegularSide send(sendcount, sendtype), recv(recvcount, recvtype);
    return tonari_alltoall(sendbuf, send.count, send.type, recvbuf, recv.count, recv.type, on.near);
  }
  std::uint64_t bytes(const Communicator& on) const {
    return bytes_of_many(sendcount, sendtype) * static_cast<std::uint64_t>(on.targets);
  }
};

struct LargeAllgather : LargeAlltoall {
  static constexpr Kind kind = Kind::allgather;
  int exchange(const Communicator& on) const {
    const RegularSide send(sendcount, sendtype), recv(recvcount, recvtype);
    return tonari_allgather(sendbuf, send.count, send.type, recvbuf, recv.count, recv.type,
                            on.near);
  }
};

struct LargeAlltoallv {
  static constexpr Kind kind = Kind::alltoall;
  static constexpr bool all_know = false;
  const void* sendbuf;
  const MPI_Count* sendcounts;
  const MPI_Aint* sdispls;
  Handle sendtype;
  void* recvbuf;
  const MPI_Count* recvcounts;
  const MPI_Aint* rdispls;
  Handle recvtype;

  template <class Function>
  int native(Function* function, Handle comm) const {
    return function(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                    comm);
  }
  int exchange(const Communicator& on) const {
    if (!all_fit(sendcounts, on.targets) || !all_fit(recvcounts, on.sources)) return as_w(on);
    const std::vector<int> send = narrow(sendcounts, on.targets),
                           recv = narrow(recvcounts, on.sources);
    return tonari_alltoallv(sendbuf, send.data(), sdispls, type_of(sendtype), recvbuf, recv.data(),
                            rdispls, type_of(recvtype), on.near);
  }
  int as_w(const Communicator& on) const {
    const BlocksSide send(sendcounts, sdispls, nullptr, sendtype, on.targets);
    const BlocksSide recv(recvcounts, rdispls, nullptr, recvtype, on.sources);
    return tonari_alltoallw(sendbuf, send.counts.data(), send.at.data(), send.types.data(), recvbuf,
                            recv.counts.data(), recv.at.data(), recv.types.data(), on.near);
  }
  std::uint64_t bytes(const Communicator& on) const {
    std::uint64_t all = 0;
    for (int i = 0; i < on.targets; ++i) all += bytes_of_many(sendcounts[i], sendtype);
    return all;
  }
};

struct LargeAlltoallw {
  static constexpr Kind kind = Kind::alltoall;
  static constexpr bool all_know = false;
  const void* sendbuf;
  const MPI_Count* sendcounts;
  const MPI_Aint* sdispls;
  const void* sendtypes;
  void* recvbuf;
  const MPI_Count* recvcounts;
  const MPI_Aint* rdispls;
  const void* recvtypes;

  template <class Function>
  int native(Function* function, Handle comm) const {
    return function(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                    recvtypes, comm);
  }
  int exchange(const Communicator& on) const {
    const BlocksSide send(sendcounts, sdispls, types(sendtypes), 0, on.targets);
    const BlocksSide recv(recvcounts, rdispls, types(recvtypes), 0, on.sources);
    return tonari_alltoallw(sendbuf, send.counts.data(), send.at.data(), send.types.data(), recvbuf,
                            recv.counts.data(), recv.at.data(), recv.types.data(), on.near);
  }
  static const MPI_Datatype* types(const void* list) {
    return static_cast<const MPI_Datatype*>(list);
  }
  std::uint64_t bytes(const Communicator& on) const {
    std::uint64_t all = 0;
    for (int i = 0; i < on.targets; ++i)
      all += bytes_of(&one, types(sendtypes) + i, 1) * static_cast<std::uint64_t>(sendcounts[i]);
    return all;
  }
  static constexpr int one = 1;
};

struct LargeAllgatherv {
  static constexpr Kind kind = Kind::allgather;
  static constexpr bool all_know = false;
  const void* sendbuf;
  MPI_Count sendcount;
  Handle sendtype;
  void* recvbuf;
  const MPI_Count* recvcounts;
  const MPI_Aint* displs;
  Handle recvtype;

  template <class Function>
  int native(Function* function, Handle comm) const {
    return function(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  }
  int exchange(const Communicator& on) const {
    const RegularSide send(sendcount, sendtype);
    if (!all_fit(recvcounts, on.sources)) return as_w(send, on);
    const std::vector<int> recv = narrow(recvcounts, on.sources);
    return tonari_allgatherv(sendbuf, send.count, send.type, recvbuf, recv.data(), displs,
                             type_of(recvtype), on.near);
  }
  int as_w(const RegularSide& send, const Communicator& on) const {
    const BlocksSide recv(recvcounts, displs, nullptr, recvtype, on.sources);
    return tonari_allgatherw(sendbuf, send.count, send.type, recvbuf, recv.counts.data(),
                             recv.at.data(), recv.types.data(), on.near);
  }
  std::uint64_t bytes(const Communicator& on) const {
    return bytes_of_many(sendcount, sendtype) * static_cast<std::uint64_t>(on.targets);
  }
};

}  // namespace
}  // namespace tonari::preload

using namespace tonari::preload;

TONARI_IN_FRONT_OF(Neighbor_alltoall_c, neighbor_alltoall_c, const void* sendbuf,
                   MPI_Count sendcount, Handle sendtype, void* recvbuf, MPI_Count recvcount,
                   Handle recvtype, Handle comm)
int neighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, Handle sendtype, void* recvbuf,
                        MPI_Count recvcount, Handle recvtype,
                        Handle comm) TONARI_BLOCKING(Neighbor_alltoall_c, neighbor_alltoall_c,
                                                     LargeAlltoall, sendbuf, sendcount, sendtype,
                                                     recvbuf, recvcount, recvtype)

    TONARI_IN_FRONT_OF(
        Neighbor_alltoallv_c, neighbor_alltoallv_c, const void* sendbuf,
        const MPI_Count sendcounts[], const MPI_Aint sdispls[], Handle sendtype, void* recvbuf,
        const MPI_Count recvcounts[], const MPI_Aint rdispls[], Handle recvtype,
        Handle comm) int neighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                              const MPI_Aint sdispls[], Handle sendtype,
                                              void* recvbuf, const MPI_Count recvcounts[],
                                              const MPI_Aint rdispls[], Handle recvtype,
                                              Handle comm) TONARI_BLOCKING(Neighbor_alltoallv_c,
                                                                           neighbor_alltoallv_c,
                                                                           LargeAlltoallv, sendbuf,
                                                                           sendcounts, sdispls,
                                                                           sendtype, recvbuf,
                                                                           recvcounts, rdispls,
                                                                           recvtype)

        TONARI_IN_FRONT_OF(Neighbor_alltoallw_c, neighbor_alltoallw_c, const void* sendbuf,
                           const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                           const void* sendtypes, void* recvbuf, const MPI_Count recvcounts[],
                           const MPI_Aint rdispls[], const void* recvtypes,
                           Handle comm) int neighbor_alltoallw_c(const void* sendbuf,
                                                                 const MPI_Count sendcounts[],
                                                                 const MPI_Aint sdispls[],
                                                                 const void* sendtypes,
                                                                 void* recvbuf,
                                                                 const MPI_Count recvcounts[],
                                                                 const MPI_Aint rdispls[],
                                                                 const void* recvtypes, Handle comm)
            TONARI_BLOCKING(Neighbor_alltoallw_c, neighbor_alltoallw_c, LargeAlltoallw, sendbuf,
                            sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes)

                TONARI_IN_FRONT_OF(Neighbor_allgather_c, neighbor_allgather_c, const void* sendbuf,
                                   MPI_Count sendcount, Handle sendtype, void* recvbuf,
                                   MPI_Count recvcount, Handle recvtype,
                                   Handle comm) int neighbor_allgather_c(const void* sendbuf,
                                                                         MPI_Count sendcount,
                                                                         Handle sendtype,
                                                                         void* recvbuf,
                                                                         MPI_Count recvcount,
                                                                         Handle recvtype,
                                                                         Handle comm)
                    TONARI_BLOCKING(Neighbor_allgather_c, neighbor_allgather_c, LargeAllgather,
                                    {sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype})

                        TONARI_IN_FRONT_OF(
                            Neighbor_allgatherv_c, neighbor_allgatherv_c, const void* sendbuf,
                            MPI_Count sendcount, Handle sendtype, void* recvbuf,
                            const MPI_Count recvcounts[], const MPI_Aint displs[], Handle recvtype,
                            Handle comm) int neighbor_allgatherv_c(const void* sendbuf,
                                                                   MPI_Count sendcount,
                                                                   Handle sendtype, void* recvbuf,
                                                                   const MPI_Count recvcounts[],
                                                                   const MPI_Aint displs[],
                                                                   Handle recvtype, Handle comm)
                            TONARI_BLOCKING(Neighbor_allgatherv_c, neighbor_allgatherv_c,
                                            LargeAllgatherv, sendbuf, sendcount, sendtype, recvbuf,
                                            recvcounts, displs, recvtype)

#endif
