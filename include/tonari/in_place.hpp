// SPDX-License-Identifier: BSD-3-Clause
// All-to-alls in place between all ranks of a communicator. Part of tonari.hpp.
#pragma once

#include <tonari/request.hpp>

#include <cstddef>
#include <span>

namespace tonari {
inline namespace api0 {  // the names link apart from anything else of namespace tonari

namespace detail {

inline Spans::Wanted per_rank(const Counts& counts, MPI_Comm comm, const char* name) {
  return {counts, Spans::ranks(comm), name, "rank"};
}

}  // namespace detail

// ---- In place, between all ranks of a communicator (tonari.h): block j goes to rank j, and what
// rank j had for this one takes its place.
//
// ..._init makes a persistent request; i in front starts one at once; the plain forms return when
// the exchange is complete. buf must outlive the request. With a range as buf (ranges.hpp): all of
// it, as many elements for each rank, or blocks that lie in it. What does not fit, and counts,
// displacements and types without one entry per rank, are refused on all ranks, as a negative count
// or a null array.

inline Request alltoall_inplace_init(void* buf, MPI_Count count, MPI_Datatype type, MPI_Comm comm,
                                     MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return tonari_alltoall_inplace_init_c(buf, count, type, comm, info, out);
  });
}
inline Request ialltoall_inplace(void* buf, MPI_Count count, MPI_Datatype type, MPI_Comm comm,
                                 MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return tonari_ialltoall_inplace_c(buf, count, type, comm, info, out);
  });
}
inline void alltoall_inplace(void* buf, MPI_Count count, MPI_Datatype type, MPI_Comm comm,
                             MPI_Info info = MPI_INFO_NULL) {
  check(tonari_alltoall_inplace_c(buf, count, type, comm, info));
}
template <detail::Writable Buffer>
Request alltoall_inplace_init(Buffer&& buf, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  const auto all = detail::elements_of(buf);
  return alltoall_inplace_init(all.data,
                               detail::Spans::block(all, detail::Spans::ranks(comm), "buf"),
                               all.type(), comm, info);
}
template <detail::Writable Buffer>
Request ialltoall_inplace(Buffer&& buf, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  const auto all = detail::elements_of(buf);
  return ialltoall_inplace(all.data, detail::Spans::block(all, detail::Spans::ranks(comm), "buf"),
                           all.type(), comm, info);
}
template <detail::Writable Buffer>
void alltoall_inplace(Buffer&& buf, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  const auto all = detail::elements_of(buf);
  alltoall_inplace(all.data, detail::Spans::block(all, detail::Spans::ranks(comm), "buf"),
                   all.type(), comm, info);
}

inline Request alltoallv_inplace_init(void* buf, const Counts& counts,
                                      std::span<const MPI_Aint> displs, MPI_Datatype type,
                                      MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return detail::Spans::with_counts(
        tonari_alltoallv_inplace_init, tonari_alltoallv_inplace_init_c,
        detail::per_rank(counts, comm, "counts"), [&](auto function, auto n) {
          return function(buf, n, detail::Spans::per_rank(displs, comm, "displs"), type, comm, info,
                          out);
        });
  });
}
inline Request ialltoallv_inplace(void* buf, const Counts& counts, std::span<const MPI_Aint> displs,
                                  MPI_Datatype type, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return detail::Spans::with_counts(
        tonari_ialltoallv_inplace, tonari_ialltoallv_inplace_c,
        detail::per_rank(counts, comm, "counts"), [&](auto function, auto n) {
          return function(buf, n, detail::Spans::per_rank(displs, comm, "displs"), type, comm, info,
                          out);
        });
  });
}
inline void alltoallv_inplace(void* buf, const Counts& counts, std::span<const MPI_Aint> displs,
                              MPI_Datatype type, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  check(detail::Spans::with_counts(
      tonari_alltoallv_inplace, tonari_alltoallv_inplace_c,
      detail::per_rank(counts, comm, "counts"), [&](auto function, auto n) {
        return function(buf, n, detail::Spans::per_rank(displs, comm, "displs"), type, comm, info);
      }));
}
template <detail::Writable Buffer>
  requires detail::OfNumbers<Buffer>
Request alltoallv_inplace_init(Buffer&& buf, const Counts& counts, std::span<const MPI_Aint> displs,
                               MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  const auto all = detail::elements_of(buf);
  return alltoallv_inplace_init(all.data, detail::Spans::within(all.size, counts, displs), displs,
                                all.type(), comm, info);
}
template <detail::Writable Buffer>
  requires detail::OfNumbers<Buffer>
Request ialltoallv_inplace(Buffer&& buf, const Counts& counts, std::span<const MPI_Aint> displs,
                           MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  const auto all = detail::elements_of(buf);
  return ialltoallv_inplace(all.data, detail::Spans::within(all.size, counts, displs), displs,
                            all.type(), comm, info);
}
template <detail::Writable Buffer>
  requires detail::OfNumbers<Buffer>
void alltoallv_inplace(Buffer&& buf, const Counts& counts, std::span<const MPI_Aint> displs,
                       MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  const auto all = detail::elements_of(buf);
  alltoallv_inplace(all.data, detail::Spans::within(all.size, counts, displs), displs, all.type(),
                    comm, info);
}

inline Request alltoallw_inplace_init(void* buf, const Counts& counts,
                                      std::span<const MPI_Aint> displs,
                                      std::span<const MPI_Datatype> types, MPI_Comm comm,
                                      MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return detail::Spans::with_counts(
        tonari_alltoallw_inplace_init, tonari_alltoallw_inplace_init_c,
        detail::per_rank(counts, comm, "counts"), [&](auto function, auto n) {
          return function(buf, n, detail::Spans::per_rank(displs, comm, "displs"),
                          detail::Spans::per_rank(types, comm, "types"), comm, info, out);
        });
  });
}
inline Request ialltoallw_inplace(void* buf, const Counts& counts, std::span<const MPI_Aint> displs,
                                  std::span<const MPI_Datatype> types, MPI_Comm comm,
                                  MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return detail::Spans::with_counts(
        tonari_ialltoallw_inplace, tonari_ialltoallw_inplace_c,
        detail::per_rank(counts, comm, "counts"), [&](auto function, auto n) {
          return function(buf, n, detail::Spans::per_rank(displs, comm, "displs"),
                          detail::Spans::per_rank(types, comm, "types"), comm, info, out);
        });
  });
}
inline void alltoallw_inplace(void* buf, const Counts& counts, std::span<const MPI_Aint> displs,
                              std::span<const MPI_Datatype> types, MPI_Comm comm,
                              MPI_Info info = MPI_INFO_NULL) {
  check(detail::Spans::with_counts(
      tonari_alltoallw_inplace, tonari_alltoallw_inplace_c,
      detail::per_rank(counts, comm, "counts"), [&](auto function, auto n) {
        return function(buf, n, detail::Spans::per_rank(displs, comm, "displs"),
                        detail::Spans::per_rank(types, comm, "types"), comm, info);
      }));
}

inline Request alltoallv_inplace_general_init(void* buf, const Counts& sendcounts,
                                              std::span<const MPI_Aint> senddispls,
                                              const Counts& recvcounts,
                                              std::span<const MPI_Aint> recvdispls,
                                              MPI_Datatype type, MPI_Comm comm,
                                              MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return detail::Spans::with_counts(
        tonari_alltoallv_inplace_general_init, tonari_alltoallv_inplace_general_init_c,
        detail::per_rank(sendcounts, comm, "sendcounts"),
        detail::per_rank(recvcounts, comm, "recvcounts"), [&](auto function, auto n, auto m) {
          return function(buf, n, detail::Spans::per_rank(senddispls, comm, "senddispls"), m,
                          detail::Spans::per_rank(recvdispls, comm, "recvdispls"), type, comm, info,
                          out);
        });
  });
}
inline Request ialltoallv_inplace_general(void* buf, const Counts& sendcounts,
                                          std::span<const MPI_Aint> senddispls,
                                          const Counts& recvcounts,
                                          std::span<const MPI_Aint> recvdispls, MPI_Datatype type,
                                          MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return detail::Spans::with_counts(
        tonari_ialltoallv_inplace_general, tonari_ialltoallv_inplace_general_c,
        detail::per_rank(sendcounts, comm, "sendcounts"),
        detail::per_rank(recvcounts, comm, "recvcounts"), [&](auto function, auto n, auto m) {
          return function(buf, n, detail::Spans::per_rank(senddispls, comm, "senddispls"), m,
                          detail::Spans::per_rank(recvdispls, comm, "recvdispls"), type, comm, info,
                          out);
        });
  });
}
inline void alltoallv_inplace_general(void* buf, const Counts& sendcounts,
                                      std::span<const MPI_Aint> senddispls,
                                      const Counts& recvcounts,
                                      std::span<const MPI_Aint> recvdispls, MPI_Datatype type,
                                      MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  check(detail::Spans::with_counts(
      tonari_alltoallv_inplace_general, tonari_alltoallv_inplace_general_c,
      detail::per_rank(sendcounts, comm, "sendcounts"),
      detail::per_rank(recvcounts, comm, "recvcounts"), [&](auto function, auto n, auto m) {
        return function(buf, n, detail::Spans::per_rank(senddispls, comm, "senddispls"), m,
                        detail::Spans::per_rank(recvdispls, comm, "recvdispls"), type, comm, info);
      }));
}
template <detail::Writable Buffer>
  requires detail::OfNumbers<Buffer>
Request alltoallv_inplace_general_init(Buffer&& buf, const Counts& sendcounts,
                                       std::span<const MPI_Aint> senddispls,
                                       const Counts& recvcounts,
                                       std::span<const MPI_Aint> recvdispls, MPI_Comm comm,
                                       MPI_Info info = MPI_INFO_NULL) {
  const auto all = detail::elements_of(buf);
  return alltoallv_inplace_general_init(
      all.data, detail::Spans::within(all.size, sendcounts, senddispls), senddispls,
      detail::Spans::within(all.size, recvcounts, recvdispls), recvdispls, all.type(), comm, info);
}
template <detail::Writable Buffer>
  requires detail::OfNumbers<Buffer>
Request ialltoallv_inplace_general(Buffer&& buf, const Counts& sendcounts,
                                   std::span<const MPI_Aint> senddispls, const Counts& recvcounts,
                                   std::span<const MPI_Aint> recvdispls, MPI_Comm comm,
                                   MPI_Info info = MPI_INFO_NULL) {
  const auto all = detail::elements_of(buf);
  return ialltoallv_inplace_general(
      all.data, detail::Spans::within(all.size, sendcounts, senddispls), senddispls,
      detail::Spans::within(all.size, recvcounts, recvdispls), recvdispls, all.type(), comm, info);
}
template <detail::Writable Buffer>
  requires detail::OfNumbers<Buffer>
void alltoallv_inplace_general(Buffer&& buf, const Counts& sendcounts,
                               std::span<const MPI_Aint> senddispls, const Counts& recvcounts,
                               std::span<const MPI_Aint> recvdispls, MPI_Comm comm,
                               MPI_Info info = MPI_INFO_NULL) {
  const auto all = detail::elements_of(buf);
  alltoallv_inplace_general(all.data, detail::Spans::within(all.size, sendcounts, senddispls),
                            senddispls, detail::Spans::within(all.size, recvcounts, recvdispls),
                            recvdispls, all.type(), comm, info);
}

}  // namespace api0
}  // namespace tonari
