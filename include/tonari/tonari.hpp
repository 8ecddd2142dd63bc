// SPDX-License-Identifier: BSD-3-Clause
// tonari for C++20: tonari.h with owners, spans and exceptions. Header only.
//
//   tonari::Neighborhood near(cart, offsets);
//   tonari::Request swap = near.alltoall(std::span<const double>(out), std::span(in));
//   for (...) { swap.start(); compute_interior(); swap.wait(); compute_border(); }
//
// What the operations do, which are collective, and what may overlap is said in tonari.h. Here in
// addition:
//  - A function that fails throws tonari::Failure, on all ranks if it is collective. It carries the
//    code and the sentence.
//  - Destructors free. That of Neighborhood is collective: let neighborhoods of one communicator go
//    in the same order on all ranks. A Request that is active is waited for, because other ranks
//    may depend on blocks that pass through this one.
//  - Spans of counts, displacements and types must have one entry per neighbor (in place: per
//    rank); their length is checked.
#pragma once

#if __cplusplus <= 201703L
#error "tonari's C++ headers need C++20: compile with -std=c++20, or use the C headers (tonari.h)"
#endif

#include <tonari/tonari.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tonari {
inline namespace api0 {  // the names link apart from anything else of namespace tonari

class Failure : public std::runtime_error {
 public:
  Failure(int code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  int code() const noexcept { return code_; }  // TONARI_ERR_...

 private:
  int code_;
};

inline void check(int code) {
  if (code != TONARI_SUCCESS) throw Failure(code, tonari_last_error());
}

// The MPI datatype of T, for the typed forms. Specialize it for further types: `template <> inline
// MPI_Datatype tonari::mpi_type<Cell>() {...}`.
template <class T>
MPI_Datatype mpi_type() = delete;
template <>
inline MPI_Datatype mpi_type<float>() {
  return MPI_FLOAT;
}
template <>
inline MPI_Datatype mpi_type<double>() {
  return MPI_DOUBLE;
}
template <>
inline MPI_Datatype mpi_type<std::complex<float>>() {
  return MPI_C_FLOAT_COMPLEX;
}
template <>
inline MPI_Datatype mpi_type<std::complex<double>>() {
  return MPI_C_DOUBLE_COMPLEX;
}
template <>
inline MPI_Datatype mpi_type<char>() {
  return MPI_CHAR;
}
template <>
inline MPI_Datatype mpi_type<std::byte>() {
  return MPI_BYTE;
}
template <>
inline MPI_Datatype mpi_type<std::int8_t>() {
  return MPI_INT8_T;
}
template <>
inline MPI_Datatype mpi_type<std::uint8_t>() {
  return MPI_UINT8_T;
}
template <>
inline MPI_Datatype mpi_type<std::int16_t>() {
  return MPI_INT16_T;
}
template <>
inline MPI_Datatype mpi_type<std::uint16_t>() {
  return MPI_UINT16_T;
}
template <>
inline MPI_Datatype mpi_type<std::int32_t>() {
  return MPI_INT32_T;
}
template <>
inline MPI_Datatype mpi_type<std::uint32_t>() {
  return MPI_UINT32_T;
}
template <>
inline MPI_Datatype mpi_type<std::int64_t>() {
  return MPI_INT64_T;
}
template <>
inline MPI_Datatype mpi_type<std::uint64_t>() {
  return MPI_UINT64_T;
}

// Owner of a tonari_request. Empty after a move; an empty request is complete.
class Request {
 public:
  Request() = default;
  explicit Request(tonari_request handle) noexcept : handle_(handle) {}  // takes over
  Request(Request&& other) noexcept : handle_(std::exchange(other.handle_, TONARI_REQUEST_NULL)) {}
  Request& operator=(Request other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Request() {
    tonari_wait(handle_);
    tonari_request_free(&handle_);
  }

  void start() { check(tonari_start(handle_)); }
  // With other buffers, which stay bound: see tonari_start_with. Of vectors: in the order of init.
  // How long they are is not known here; they must have room for what init's had.
  void start(const void* sendbuf, void* recvbuf) {
    check(tonari_start_with(handle_, sendbuf, recvbuf));
  }
  void wait() { check(tonari_wait(handle_)); }
  bool test() {
    int complete = 0;
    check(tonari_test(handle_, &complete));
    return complete != 0;
  }

  std::string describe() const {
    const char* text = tonari_request_describe(handle_);
    return text ? text : "";
  }
  // Strings in it are valid as long as the request.
  tonari_request_info info() const {
    tonari_request_info info;
    check(tonari_request_get_info(handle_, &info));
    return info;
  }
  tonari_request handle() const noexcept { return handle_; }  // stays owned

 private:
  tonari_request handle_ = TONARI_REQUEST_NULL;
};

namespace detail {

// From spans to arguments of the C interface. What has the wrong length becomes an argument that it
// refuses on all ranks, so that this rank does not throw alone.
struct Spans {
  template <class Init>
  static Request made(Init init) {
    tonari_request handle = TONARI_REQUEST_NULL;
    check(init(&handle));
    return Request(handle);
  }
  template <class T>
  static const T* array(std::span<const T> entries, int count) {
    return entries.size() == static_cast<std::size_t>(count) ? entries.data() : nullptr;
  }
  template <class T>
  static const T* per_rank(std::span<const T> entries, MPI_Comm comm) {
    return array(entries, ranks(comm));
  }
  static int whole(std::size_t elements) {
    return elements <= std::numeric_limits<int>::max() ? static_cast<int>(elements) : -1;
  }
  static int block(std::size_t elements, int count) {
    const auto s = static_cast<std::size_t>(count);
    if (s == 0) return 0;
    return elements % s == 0 ? whole(elements / s) : -1;
  }
  static int ranks(MPI_Comm comm) {
    int size = 0;
    if (comm != MPI_COMM_NULL) MPI_Comm_size(comm, &size);
    return size;
  }
  // Nothing if a block reaches beyond `elements`. What is negative is refused where it is read.
  static std::span<const int> within(std::size_t elements, std::span<const int> counts,
                                     std::span<const MPI_Aint> displs) {
    for (std::size_t j = 0; j < counts.size() && j < displs.size(); ++j) {
      if (counts[j] <= 0 || displs[j] < 0) continue;
      const auto count = static_cast<std::size_t>(counts[j]),
                 first = static_cast<std::size_t>(displs[j]);
      if (count > elements || first > elements - count) return {};
    }
    return counts;
  }
};

}  // namespace detail

// Owner of a tonari_neighborhood; move only.
class Neighborhood : detail::Spans {
 public:
  Neighborhood() = default;
  // offsets: C^0, C^1, ... one after the other, as many integers each as cart has dimensions.
  Neighborhood(MPI_Comm cart, std::span<const int> offsets, MPI_Info info = MPI_INFO_NULL) {
    const std::size_t d = dimensions(cart);
    const bool whole =
        offsets.size() % d == 0 && offsets.size() / d <= std::numeric_limits<int>::max();
    // A negative count makes all ranks fail, not just this one.
    const int code = tonari_neighborhood_create_cart(
        cart, whole ? static_cast<int>(offsets.size() / d) : -1, offsets.data(), info, &handle_);
    if (!whole)
      throw Failure(TONARI_ERR_ARGUMENT, std::to_string(offsets.size()) +
                                             " integers are no list of offsets in " +
                                             std::to_string(d) + " dimensions");
    check(code);
  }
  // Any directed graph; both ends of an edge list it.
  static Neighborhood adjacent(MPI_Comm comm, std::span<const int> sources,
                               std::span<const int> destinations, MPI_Info info = MPI_INFO_NULL) {
    Neighborhood near;
    check(tonari_neighborhood_create_adjacent(
        comm, whole(sources.size()), sources.data(), MPI_UNWEIGHTED, whole(destinations.size()),
        destinations.data(), MPI_UNWEIGHTED, info, &near.handle_));
    return near;
  }
  // With a weight per edge, as cdag_exact_byte_communications needs.
  static Neighborhood adjacent(MPI_Comm comm, std::span<const int> sources,
                               std::span<const int> sourceweights,
                               std::span<const int> destinations, std::span<const int> destweights,
                               MPI_Info info = MPI_INFO_NULL) {
    Neighborhood near;
    const bool fits =
        sources.size() == sourceweights.size() && destinations.size() == destweights.size();
    // A negative count makes all ranks fail, not just this one.
    check(tonari_neighborhood_create_adjacent(
        comm, fits ? whole(sources.size()) : -1, sources.data(), sourceweights.data(),
        whole(destinations.size()), destinations.data(), destweights.data(), info, &near.handle_));
    return near;
  }
  // Where no rank knows who sends to it: see tonari_neighborhood_create_from_destinations.
  static Neighborhood from_destinations(MPI_Comm comm, std::span<const int> destinations,
                                        MPI_Info info = MPI_INFO_NULL) {
    Neighborhood near;
    check(tonari_neighborhood_create_from_destinations(comm, whole(destinations.size()),
                                                       destinations.data(), info, &near.handle_));
    return near;
  }
  // Of a communicator with a topology.
  static Neighborhood from_comm(MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
    Neighborhood near;
    check(tonari_neighborhood_create_from_comm(comm, info, &near.handle_));
    return near;
  }
  Neighborhood(Neighborhood&& other) noexcept
      : handle_(std::exchange(other.handle_, TONARI_NEIGHBORHOOD_NULL)) {}
  Neighborhood& operator=(Neighborhood other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Neighborhood() {
    if (handle_) tonari_neighborhood_free(&handle_);
  }

  // Blocks sent, and received, by this rank in an all-to-all.
  int count() const {
    int s = 0;
    check(tonari_neighborhood_count(handle_, &s));
    return s;
  }
  int sources_count() const {
    int in = 0;
    check(tonari_neighborhood_degrees(handle_, &in, nullptr));
    return in;
  }
  // MPI_PROC_NULL where there is none.
  std::vector<int> targets() const {
    std::vector<int> ranks(static_cast<std::size_t>(count()));
    check(tonari_neighborhood_ranks(handle_, ranks.data(), nullptr));
    return ranks;
  }
  std::vector<int> sources() const {
    std::vector<int> ranks(static_cast<std::size_t>(sources_count()));
    check(tonari_neighborhood_ranks(handle_, nullptr, ranks.data()));
    return ranks;
  }
  tonari_neighborhood handle() const noexcept { return handle_; }  // stays owned

  // send: count() blocks of one size; recv: sources_count() of that size. The spans must outlive
  // the request.
  template <class T>
  Request alltoall(std::span<const T> send, std::span<T> recv,
                   MPI_Info info = MPI_INFO_NULL) const {
    return alltoall(send.data(), block(send.size(), count()), mpi_type<T>(), recv.data(),
                    block(recv.size(), sources_count()), mpi_type<T>(), info);
  }
  // send: one block; recv: sources_count() blocks of its size.
  template <class T>
  Request allgather(std::span<const T> send, std::span<T> recv,
                    MPI_Info info = MPI_INFO_NULL) const {
    return allgather(send.data(), whole(send.size()), mpi_type<T>(), recv.data(),
                     block(recv.size(), sources_count()), mpi_type<T>(), info);
  }

  Request alltoall(const void* send, int sendcount, MPI_Datatype sendtype, void* recv,
                   int recvcount, MPI_Datatype recvtype, MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return tonari_alltoall_init(send, sendcount, sendtype, recv, recvcount, recvtype, handle_,
                                  info, out);
    });
  }
  Request allgather(const void* send, int sendcount, MPI_Datatype sendtype, void* recv,
                    int recvcount, MPI_Datatype recvtype, MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return tonari_allgather_init(send, sendcount, sendtype, recv, recvcount, recvtype, handle_,
                                   info, out);
    });
  }
  Request alltoallv(const void* send, std::span<const int> sendcounts,
                    std::span<const MPI_Aint> senddispls, MPI_Datatype sendtype, void* recv,
                    std::span<const int> recvcounts, std::span<const MPI_Aint> recvdispls,
                    MPI_Datatype recvtype, MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return tonari_alltoallv_init(send, array(sendcounts, count()), array(senddispls, count()),
                                   sendtype, recv, array(recvcounts, sources_count()),
                                   array(recvdispls, sources_count()), recvtype, handle_, info,
                                   out);
    });
  }
  Request allgatherv(const void* send, int sendcount, MPI_Datatype sendtype, void* recv,
                     std::span<const int> recvcounts, std::span<const MPI_Aint> recvdispls,
                     MPI_Datatype recvtype, MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return tonari_allgatherv_init(
          send, sendcount, sendtype, recv, array(recvcounts, sources_count()),
          array(recvdispls, sources_count()), recvtype, handle_, info, out);
    });
  }
  Request alltoallw(const void* send, std::span<const int> sendcounts,
                    std::span<const MPI_Aint> senddispls, std::span<const MPI_Datatype> sendtypes,
                    void* recv, std::span<const int> recvcounts,
                    std::span<const MPI_Aint> recvdispls, std::span<const MPI_Datatype> recvtypes,
                    MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return tonari_alltoallw_init(
          send, array(sendcounts, count()), array(senddispls, count()), array(sendtypes, count()),
          recv, array(recvcounts, sources_count()), array(recvdispls, sources_count()),
          array(recvtypes, sources_count()), handle_, info, out);
    });
  }
  Request allgatherw(const void* send, int sendcount, MPI_Datatype sendtype, void* recv,
                     std::span<const int> recvcounts, std::span<const MPI_Aint> recvdispls,
                     std::span<const MPI_Datatype> recvtypes, MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return tonari_allgatherw_init(send, sendcount, sendtype, recv,
                                    array(recvcounts, sources_count()),
                                    array(recvdispls, sources_count()),
                                    array(recvtypes, sources_count()), handle_, info, out);
    });
  }

  // One-shot calls: ..._once returns when the exchange is complete; i... returns a request that is
  // started already.
  template <class T>
  void alltoall_once(std::span<const T> send, std::span<T> recv) const {
    check(tonari_alltoall(send.data(), block(send.size(), count()), mpi_type<T>(), recv.data(),
                          block(recv.size(), sources_count()), mpi_type<T>(), handle_));
  }
  template <class T>
  Request ialltoall(std::span<const T> send, std::span<T> recv) const {
    return made([&](tonari_request* out) {
      return tonari_ialltoall(send.data(), block(send.size(), count()), mpi_type<T>(), recv.data(),
                              block(recv.size(), sources_count()), mpi_type<T>(), handle_, out);
    });
  }
  template <class T>
  void allgather_once(std::span<const T> send, std::span<T> recv) const {
    check(tonari_allgather(send.data(), whole(send.size()), mpi_type<T>(), recv.data(),
                           block(recv.size(), sources_count()), mpi_type<T>(), handle_));
  }
  template <class T>
  Request iallgather(std::span<const T> send, std::span<T> recv) const {
    return made([&](tonari_request* out) {
      return tonari_iallgather(send.data(), whole(send.size()), mpi_type<T>(), recv.data(),
                               block(recv.size(), sources_count()), mpi_type<T>(), handle_, out);
    });
  }
  void alltoallv_once(const void* send, std::span<const int> sendcounts,
                      std::span<const MPI_Aint> senddispls, MPI_Datatype sendtype, void* recv,
                      std::span<const int> recvcounts, std::span<const MPI_Aint> recvdispls,
                      MPI_Datatype recvtype) const {
    check(tonari_alltoallv(send, array(sendcounts, count()), array(senddispls, count()), sendtype,
                           recv, array(recvcounts, sources_count()),
                           array(recvdispls, sources_count()), recvtype, handle_));
  }
  Request ialltoallv(const void* send, std::span<const int> sendcounts,
                     std::span<const MPI_Aint> senddispls, MPI_Datatype sendtype, void* recv,
                     std::span<const int> recvcounts, std::span<const MPI_Aint> recvdispls,
                     MPI_Datatype recvtype) const {
    return made([&](tonari_request* out) {
      return tonari_ialltoallv(send, array(sendcounts, count()), array(senddispls, count()),
                               sendtype, recv, array(recvcounts, sources_count()),
                               array(recvdispls, sources_count()), recvtype, handle_, out);
    });
  }
  void alltoallw_once(const void* send, std::span<const int> sendcounts,
                      std::span<const MPI_Aint> senddispls, std::span<const MPI_Datatype> sendtypes,
                      void* recv, std::span<const int> recvcounts,
                      std::span<const MPI_Aint> recvdispls,
                      std::span<const MPI_Datatype> recvtypes) const {
    check(tonari_alltoallw(send, array(sendcounts, count()), array(senddispls, count()),
                           array(sendtypes, count()), recv, array(recvcounts, sources_count()),
                           array(recvdispls, sources_count()), array(recvtypes, sources_count()),
                           handle_));
  }
  Request ialltoallw(const void* send, std::span<const int> sendcounts,
                     std::span<const MPI_Aint> senddispls, std::span<const MPI_Datatype> sendtypes,
                     void* recv, std::span<const int> recvcounts,
                     std::span<const MPI_Aint> recvdispls,
                     std::span<const MPI_Datatype> recvtypes) const {
    return made([&](tonari_request* out) {
      return tonari_ialltoallw(send, array(sendcounts, count()), array(senddispls, count()),
                               array(sendtypes, count()), recv, array(recvcounts, sources_count()),
                               array(recvdispls, sources_count()),
                               array(recvtypes, sources_count()), handle_, out);
    });
  }
  void allgatherv_once(const void* send, int sendcount, MPI_Datatype sendtype, void* recv,
                       std::span<const int> recvcounts, std::span<const MPI_Aint> recvdispls,
                       MPI_Datatype recvtype) const {
    check(tonari_allgatherv(send, sendcount, sendtype, recv, array(recvcounts, sources_count()),
                            array(recvdispls, sources_count()), recvtype, handle_));
  }
  Request iallgatherv(const void* send, int sendcount, MPI_Datatype sendtype, void* recv,
                      std::span<const int> recvcounts, std::span<const MPI_Aint> recvdispls,
                      MPI_Datatype recvtype) const {
    return made([&](tonari_request* out) {
      return tonari_iallgatherv(send, sendcount, sendtype, recv, array(recvcounts, sources_count()),
                                array(recvdispls, sources_count()), recvtype, handle_, out);
    });
  }
  void allgatherw_once(const void* send, int sendcount, MPI_Datatype sendtype, void* recv,
                       std::span<const int> recvcounts, std::span<const MPI_Aint> recvdispls,
                       std::span<const MPI_Datatype> recvtypes) const {
    check(tonari_allgatherw(send, sendcount, sendtype, recv, array(recvcounts, sources_count()),
                            array(recvdispls, sources_count()), array(recvtypes, sources_count()),
                            handle_));
  }
  Request iallgatherw(const void* send, int sendcount, MPI_Datatype sendtype, void* recv,
                      std::span<const int> recvcounts, std::span<const MPI_Aint> recvdispls,
                      std::span<const MPI_Datatype> recvtypes) const {
    return made([&](tonari_request* out) {
      return tonari_iallgatherw(send, sendcount, sendtype, recv, array(recvcounts, sources_count()),
                                array(recvdispls, sources_count()),
                                array(recvtypes, sources_count()), handle_, out);
    });
  }

 private:
  // 1 where there is no topology: creating the neighborhood then says so.
  static std::size_t dimensions(MPI_Comm cart) {
    int topology = MPI_UNDEFINED, d = 1;
    if (cart != MPI_COMM_NULL) MPI_Topo_test(cart, &topology);
    if (topology == MPI_CART) MPI_Cartdim_get(cart, &d);
    return d > 0 ? static_cast<std::size_t>(d) : 1;
  }

  tonari_neighborhood handle_ = TONARI_NEIGHBORHOOD_NULL;
};

// ---- In place, between all ranks of a communicator (tonari.h): block j goes to rank j, and what
// rank j had for this one takes its place.
//
// ..._init makes a persistent request; i in front starts one at once; the plain forms return when
// the exchange is complete. buf must outlive the request. With a span as buf: all of it, as many
// elements for each rank, or blocks that lie in it. What does not fit, and spans of counts,
// displacements and types without one entry per rank, are refused on all ranks, as a negative count
// or a null array.

inline Request alltoall_inplace_init(void* buf, int count, MPI_Datatype type, MPI_Comm comm,
                                     MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return tonari_alltoall_inplace_init(buf, count, type, comm, info, out);
  });
}
inline Request ialltoall_inplace(void* buf, int count, MPI_Datatype type, MPI_Comm comm,
                                 MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return tonari_ialltoall_inplace(buf, count, type, comm, info, out);
  });
}
inline void alltoall_inplace(void* buf, int count, MPI_Datatype type, MPI_Comm comm,
                             MPI_Info info = MPI_INFO_NULL) {
  check(tonari_alltoall_inplace(buf, count, type, comm, info));
}
template <class T>
Request alltoall_inplace_init(std::span<T> buf, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  return alltoall_inplace_init(buf.data(),
                               detail::Spans::block(buf.size(), detail::Spans::ranks(comm)),
                               mpi_type<T>(), comm, info);
}
template <class T>
Request ialltoall_inplace(std::span<T> buf, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  return ialltoall_inplace(buf.data(), detail::Spans::block(buf.size(), detail::Spans::ranks(comm)),
                           mpi_type<T>(), comm, info);
}
template <class T>
void alltoall_inplace(std::span<T> buf, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  alltoall_inplace(buf.data(), detail::Spans::block(buf.size(), detail::Spans::ranks(comm)),
                   mpi_type<T>(), comm, info);
}

inline Request alltoallv_inplace_init(void* buf, std::span<const int> counts,
                                      std::span<const MPI_Aint> displs, MPI_Datatype type,
                                      MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return tonari_alltoallv_inplace_init(buf, detail::Spans::per_rank(counts, comm),
                                         detail::Spans::per_rank(displs, comm), type, comm, info,
                                         out);
  });
}
inline Request ialltoallv_inplace(void* buf, std::span<const int> counts,
                                  std::span<const MPI_Aint> displs, MPI_Datatype type,
                                  MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return tonari_ialltoallv_inplace(buf, detail::Spans::per_rank(counts, comm),
                                     detail::Spans::per_rank(displs, comm), type, comm, info, out);
  });
}
inline void alltoallv_inplace(void* buf, std::span<const int> counts,
                              std::span<const MPI_Aint> displs, MPI_Datatype type, MPI_Comm comm,
                              MPI_Info info = MPI_INFO_NULL) {
  check(tonari_alltoallv_inplace(buf, detail::Spans::per_rank(counts, comm),
                                 detail::Spans::per_rank(displs, comm), type, comm, info));
}
template <class T>
Request alltoallv_inplace_init(std::span<T> buf, std::span<const int> counts,
                               std::span<const MPI_Aint> displs, MPI_Comm comm,
                               MPI_Info info = MPI_INFO_NULL) {
  return alltoallv_inplace_init(buf.data(), detail::Spans::within(buf.size(), counts, displs),
                                displs, mpi_type<T>(), comm, info);
}
template <class T>
Request ialltoallv_inplace(std::span<T> buf, std::span<const int> counts,
                           std::span<const MPI_Aint> displs, MPI_Comm comm,
                           MPI_Info info = MPI_INFO_NULL) {
  return ialltoallv_inplace(buf.data(), detail::Spans::within(buf.size(), counts, displs), displs,
                            mpi_type<T>(), comm, info);
}
template <class T>
void alltoallv_inplace(std::span<T> buf, std::span<const int> counts,
                       std::span<const MPI_Aint> displs, MPI_Comm comm,
                       MPI_Info info = MPI_INFO_NULL) {
  alltoallv_inplace(buf.data(), detail::Spans::within(buf.size(), counts, displs), displs,
                    mpi_type<T>(), comm, info);
}

inline Request alltoallw_inplace_init(void* buf, std::span<const int> counts,
                                      std::span<const MPI_Aint> displs,
                                      std::span<const MPI_Datatype> types, MPI_Comm comm,
                                      MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return tonari_alltoallw_inplace_init(buf, detail::Spans::per_rank(counts, comm),
                                         detail::Spans::per_rank(displs, comm),
                                         detail::Spans::per_rank(types, comm), comm, info, out);
  });
}
inline Request ialltoallw_inplace(void* buf, std::span<const int> counts,
                                  std::span<const MPI_Aint> displs,
                                  std::span<const MPI_Datatype> types, MPI_Comm comm,
                                  MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return tonari_ialltoallw_inplace(buf, detail::Spans::per_rank(counts, comm),
                                     detail::Spans::per_rank(displs, comm),
                                     detail::Spans::per_rank(types, comm), comm, info, out);
  });
}
inline void alltoallw_inplace(void* buf, std::span<const int> counts,
                              std::span<const MPI_Aint> displs, std::span<const MPI_Datatype> types,
                              MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  check(tonari_alltoallw_inplace(buf, detail::Spans::per_rank(counts, comm),
                                 detail::Spans::per_rank(displs, comm),
                                 detail::Spans::per_rank(types, comm), comm, info));
}

inline Request alltoallv_inplace_general_init(void* buf, std::span<const int> sendcounts,
                                              std::span<const MPI_Aint> senddispls,
                                              std::span<const int> recvcounts,
                                              std::span<const MPI_Aint> recvdispls,
                                              MPI_Datatype type, MPI_Comm comm,
                                              MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return tonari_alltoallv_inplace_general_init(
        buf, detail::Spans::per_rank(sendcounts, comm), detail::Spans::per_rank(senddispls, comm),
        detail::Spans::per_rank(recvcounts, comm), detail::Spans::per_rank(recvdispls, comm), type,
        comm, info, out);
  });
}
inline Request ialltoallv_inplace_general(void* buf, std::span<const int> sendcounts,
                                          std::span<const MPI_Aint> senddispls,
                                          std::span<const int> recvcounts,
                                          std::span<const MPI_Aint> recvdispls, MPI_Datatype type,
                                          MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return tonari_ialltoallv_inplace_general(
        buf, detail::Spans::per_rank(sendcounts, comm), detail::Spans::per_rank(senddispls, comm),
        detail::Spans::per_rank(recvcounts, comm), detail::Spans::per_rank(recvdispls, comm), type,
        comm, info, out);
  });
}
inline void alltoallv_inplace_general(void* buf, std::span<const int> sendcounts,
                                      std::span<const MPI_Aint> senddispls,
                                      std::span<const int> recvcounts,
                                      std::span<const MPI_Aint> recvdispls, MPI_Datatype type,
                                      MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  check(tonari_alltoallv_inplace_general(
      buf, detail::Spans::per_rank(sendcounts, comm), detail::Spans::per_rank(senddispls, comm),
      detail::Spans::per_rank(recvcounts, comm), detail::Spans::per_rank(recvdispls, comm), type,
      comm, info));
}
template <class T>
Request alltoallv_inplace_general_init(std::span<T> buf, std::span<const int> sendcounts,
                                       std::span<const MPI_Aint> senddispls,
                                       std::span<const int> recvcounts,
                                       std::span<const MPI_Aint> recvdispls, MPI_Comm comm,
                                       MPI_Info info = MPI_INFO_NULL) {
  return alltoallv_inplace_general_init(
      buf.data(), detail::Spans::within(buf.size(), sendcounts, senddispls), senddispls,
      detail::Spans::within(buf.size(), recvcounts, recvdispls), recvdispls, mpi_type<T>(), comm,
      info);
}
template <class T>
Request ialltoallv_inplace_general(std::span<T> buf, std::span<const int> sendcounts,
                                   std::span<const MPI_Aint> senddispls,
                                   std::span<const int> recvcounts,
                                   std::span<const MPI_Aint> recvdispls, MPI_Comm comm,
                                   MPI_Info info = MPI_INFO_NULL) {
  return ialltoallv_inplace_general(
      buf.data(), detail::Spans::within(buf.size(), sendcounts, senddispls), senddispls,
      detail::Spans::within(buf.size(), recvcounts, recvdispls), recvdispls, mpi_type<T>(), comm,
      info);
}
template <class T>
void alltoallv_inplace_general(std::span<T> buf, std::span<const int> sendcounts,
                               std::span<const MPI_Aint> senddispls,
                               std::span<const int> recvcounts,
                               std::span<const MPI_Aint> recvdispls, MPI_Comm comm,
                               MPI_Info info = MPI_INFO_NULL) {
  alltoallv_inplace_general(buf.data(), detail::Spans::within(buf.size(), sendcounts, senddispls),
                            senddispls, detail::Spans::within(buf.size(), recvcounts, recvdispls),
                            recvdispls, mpi_type<T>(), comm, info);
}

// startall(a, b, ...) and waitall(a, b, ...) for Request lvalues; waitall makes them progress
// together.
template <class... Requests>
void startall(Requests&... requests) {
  const std::array<tonari_request, sizeof...(requests)> handles{requests.handle()...};
  check(tonari_startall(static_cast<int>(handles.size()), handles.data()));
}
template <class... Requests>
void waitall(Requests&... requests) {
  const std::array<tonari_request, sizeof...(requests)> handles{requests.handle()...};
  check(tonari_waitall(static_cast<int>(handles.size()), handles.data()));
}

}  // namespace api0
}  // namespace tonari
