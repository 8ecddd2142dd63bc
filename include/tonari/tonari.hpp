// SPDX-License-Identifier: BSD-3-Clause
// tonari for C++20: tonari.h with owners, spans and exceptions. Header only.
//
//   tonari::Neighborhood near(cart, offsets);
//   tonari::Request swap = near.alltoall(out, in);  // any contiguous ranges: see ranges.hpp
//   for (...) { swap.start(); compute_interior(); swap.wait(); compute_border(); }
//
// What the operations do, which are collective, and what may overlap is said in tonari.h. Here in
// addition:
//  - A function that fails throws tonari::Failure, on all ranks if it is collective. It carries the
//    code and the sentence.
//  - Destructors free. That of Neighborhood is collective: let neighborhoods of one communicator go
//    in the same order on all ranks. A Request that is active is waited for, because other ranks
//    may depend on blocks that pass through this one.
//  - Counts, displacements and types must have one entry per neighbor (in place: per rank); their
//    length is checked. Counts are int or MPI_Count (ranges.hpp); if one side has these and the
//    other those, the call copies one list.
#pragma once

#if __cplusplus <= 201703L
#error "tonari's C++ headers need C++20: compile with -std=c++20, or use the C headers (tonari.h)"
#endif

#include <tonari/tonari.h>
#include <tonari/ranges.hpp>

#include <array>
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

// From ranges to arguments of the C interface. What has the wrong length becomes an argument that
// it refuses on all ranks, so that this rank does not throw alone.
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
  static int whole(std::size_t ranks) {
    return ranks <= std::numeric_limits<int>::max() ? static_cast<int>(ranks) : -1;
  }
  // Numbers in all of a buffer, and in each of `count` blocks of equal size.
  template <class T>
  static MPI_Count all(const Elements<T>& buffer) {
    return block(buffer, 1);
  }
  template <class T>
  static MPI_Count block(const Elements<T>& buffer, int count) {
    const auto s = static_cast<std::size_t>(count);
    if (s == 0) return 0;
    if (buffer.size == no_size || buffer.size % s != 0) return -1;
    return static_cast<MPI_Count>(buffer.size / s * ElementOf<std::remove_const_t<T>>::numbers);
  }
  static int ranks(MPI_Comm comm) {
    int size = 0;
    if (comm != MPI_COMM_NULL) MPI_Comm_size(comm, &size);
    return size;
  }
  // Nothing if a block reaches beyond `elements`. What is negative is refused where it is read.
  static Counts within(std::size_t elements, const Counts& counts,
                       std::span<const MPI_Aint> displs) {
    if (elements == no_size) return {};
    for (std::size_t j = 0; j < counts.size() && j < displs.size(); ++j) {
      if (counts[j] <= 0 || displs[j] < 0) continue;
      const auto count = static_cast<std::size_t>(counts[j]),
                 first = static_cast<std::size_t>(displs[j]);
      if (count > elements || first > elements - count) return {};
    }
    return counts;
  }

  // call(function, its counts ...) with the form of a function whose counts are of the type that
  // the program's have: `narrow` takes int, `large` takes MPI_Count. n, m: how many there must be.
  template <class Narrow, class Large, class Call>
  static int with_counts(Narrow narrow, Large large, const Counts& counts, int n, Call call) {
    if (!counts.wide()) return call(narrow, right(counts, n, counts.as<int>()));
    return call(large, right(counts, n, counts.as<MPI_Count>()));
  }
  template <class Narrow, class Large, class Call>
  static int with_counts(Narrow narrow, Large large, const Counts& send, int n, const Counts& recv,
                         int m, Call call) {
    if (!send.wide() && !recv.wide())
      return call(narrow, right(send, n, send.as<int>()), right(recv, m, recv.as<int>()));
    const Widened<MPI_Count> sent(send), received(recv);
    return call(large, right(send, n, sent.get()), right(recv, m, received.get()));
  }
  // The count of one block beside such lists: of the type that the form takes.
  template <class Integer>
  static Integer one_count(const Integer*, MPI_Count count) {
    return static_cast<Integer>(count);
  }
  static Counts if_large(const MPI_Count& count) {
    return count > std::numeric_limits<int>::max() ? Counts(std::span(&count, 1)) : Counts();
  }

 private:
  template <class Integer>
  static const Integer* right(const Counts& counts, int n, const Integer* at) {
    return counts.size() == static_cast<std::size_t>(n) ? at : nullptr;
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

  // send: count() blocks of one size; recv: sources_count() of that size. Any contiguous ranges of
  // the same elements (ranges.hpp), which must outlive the request.
  template <detail::Readable Send, detail::Writable Recv>
    requires detail::Alike<Send, Recv>
  Request alltoall(Send&& send, Recv&& recv, MPI_Info info = MPI_INFO_NULL) const {
    const auto out = detail::elements_of(send);
    const auto in = detail::elements_of(recv);
    return alltoall(out.data, block(out, count()), out.type(), in.data, block(in, sources_count()),
                    in.type(), info);
  }
  // send: one block; recv: sources_count() blocks of its size.
  template <detail::Readable Send, detail::Writable Recv>
    requires detail::Alike<Send, Recv>
  Request allgather(Send&& send, Recv&& recv, MPI_Info info = MPI_INFO_NULL) const {
    const auto out = detail::elements_of(send);
    const auto in = detail::elements_of(recv);
    return allgather(out.data, all(out), out.type(), in.data, block(in, sources_count()), in.type(),
                     info);
  }

  Request alltoall(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                   MPI_Count recvcount, MPI_Datatype recvtype,
                   MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return tonari_alltoall_init_c(send, sendcount, sendtype, recv, recvcount, recvtype, handle_,
                                    info, out);
    });
  }
  Request allgather(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                    MPI_Count recvcount, MPI_Datatype recvtype,
                    MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return tonari_allgather_init_c(send, sendcount, sendtype, recv, recvcount, recvtype, handle_,
                                     info, out);
    });
  }
  Request alltoallv(const void* send, const Counts& sendcounts,
                    std::span<const MPI_Aint> senddispls, MPI_Datatype sendtype, void* recv,
                    const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                    MPI_Datatype recvtype, MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return with_counts(tonari_alltoallv_init, tonari_alltoallv_init_c, sendcounts, count(),
                         recvcounts, sources_count(), [&](auto function, auto n, auto m) {
                           return function(send, n, array(senddispls, count()), sendtype, recv, m,
                                           array(recvdispls, sources_count()), recvtype, handle_,
                                           info, out);
                         });
    });
  }
  Request allgatherv(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                     const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                     MPI_Datatype recvtype, MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return with_counts(tonari_allgatherv_init, tonari_allgatherv_init_c, if_large(sendcount), 0,
                         recvcounts, sources_count(), [&](auto function, auto, auto m) {
                           return function(send, one_count(m, sendcount), sendtype, recv, m,
                                           array(recvdispls, sources_count()), recvtype, handle_,
                                           info, out);
                         });
    });
  }
  Request alltoallw(const void* send, const Counts& sendcounts,
                    std::span<const MPI_Aint> senddispls, std::span<const MPI_Datatype> sendtypes,
                    void* recv, const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                    std::span<const MPI_Datatype> recvtypes, MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return with_counts(tonari_alltoallw_init, tonari_alltoallw_init_c, sendcounts, count(),
                         recvcounts, sources_count(), [&](auto function, auto n, auto m) {
                           return function(send, n, array(senddispls, count()),
                                           array(sendtypes, count()), recv, m,
                                           array(recvdispls, sources_count()),
                                           array(recvtypes, sources_count()), handle_, info, out);
                         });
    });
  }
  Request allgatherw(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                     const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                     std::span<const MPI_Datatype> recvtypes, MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return with_counts(tonari_allgatherw_init, tonari_allgatherw_init_c, if_large(sendcount), 0,
                         recvcounts, sources_count(), [&](auto function, auto, auto m) {
                           return function(send, one_count(m, sendcount), sendtype, recv, m,
                                           array(recvdispls, sources_count()),
                                           array(recvtypes, sources_count()), handle_, info, out);
                         });
    });
  }

  // One-shot calls: ..._once returns when the exchange is complete; i... returns a request that is
  // started already.
  template <detail::Readable Send, detail::Writable Recv>
    requires detail::Alike<Send, Recv>
  void alltoall_once(Send&& send, Recv&& recv) const {
    const auto out = detail::elements_of(send);
    const auto in = detail::elements_of(recv);
    alltoall_once(out.data, block(out, count()), out.type(), in.data, block(in, sources_count()),
                  in.type());
  }
  template <detail::Readable Send, detail::Writable Recv>
    requires detail::Alike<Send, Recv>
  void allgather_once(Send&& send, Recv&& recv) const {
    const auto out = detail::elements_of(send);
    const auto in = detail::elements_of(recv);
    allgather_once(out.data, all(out), out.type(), in.data, block(in, sources_count()), in.type());
  }
  template <detail::Readable Send, detail::Writable Recv>
    requires detail::Alike<Send, Recv>
  Request ialltoall(Send&& send, Recv&& recv) const {
    const auto out = detail::elements_of(send);
    const auto in = detail::elements_of(recv);
    return ialltoall(out.data, block(out, count()), out.type(), in.data, block(in, sources_count()),
                     in.type());
  }
  template <detail::Readable Send, detail::Writable Recv>
    requires detail::Alike<Send, Recv>
  Request iallgather(Send&& send, Recv&& recv) const {
    const auto out = detail::elements_of(send);
    const auto in = detail::elements_of(recv);
    return iallgather(out.data, all(out), out.type(), in.data, block(in, sources_count()),
                      in.type());
  }
  void alltoall_once(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                     MPI_Count recvcount, MPI_Datatype recvtype) const {
    check(tonari_alltoall_c(send, sendcount, sendtype, recv, recvcount, recvtype, handle_));
  }
  void allgather_once(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                      MPI_Count recvcount, MPI_Datatype recvtype) const {
    check(tonari_allgather_c(send, sendcount, sendtype, recv, recvcount, recvtype, handle_));
  }
  Request ialltoall(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                    MPI_Count recvcount, MPI_Datatype recvtype) const {
    return made([&](tonari_request* out) {
      return tonari_ialltoall_c(send, sendcount, sendtype, recv, recvcount, recvtype, handle_, out);
    });
  }
  Request iallgather(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                     MPI_Count recvcount, MPI_Datatype recvtype) const {
    return made([&](tonari_request* out) {
      return tonari_iallgather_c(send, sendcount, sendtype, recv, recvcount, recvtype, handle_,
                                 out);
    });
  }
  void alltoallv_once(const void* send, const Counts& sendcounts,
                      std::span<const MPI_Aint> senddispls, MPI_Datatype sendtype, void* recv,
                      const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                      MPI_Datatype recvtype) const {
    check(with_counts(tonari_alltoallv, tonari_alltoallv_c, sendcounts, count(), recvcounts,
                      sources_count(), [&](auto function, auto n, auto m) {
                        return function(send, n, array(senddispls, count()), sendtype, recv, m,
                                        array(recvdispls, sources_count()), recvtype, handle_);
                      }));
  }
  Request ialltoallv(const void* send, const Counts& sendcounts,
                     std::span<const MPI_Aint> senddispls, MPI_Datatype sendtype, void* recv,
                     const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                     MPI_Datatype recvtype) const {
    return made([&](tonari_request* out) {
      return with_counts(tonari_ialltoallv, tonari_ialltoallv_c, sendcounts, count(), recvcounts,
                         sources_count(), [&](auto function, auto n, auto m) {
                           return function(send, n, array(senddispls, count()), sendtype, recv, m,
                                           array(recvdispls, sources_count()), recvtype, handle_,
                                           out);
                         });
    });
  }
  void alltoallw_once(const void* send, const Counts& sendcounts,
                      std::span<const MPI_Aint> senddispls, std::span<const MPI_Datatype> sendtypes,
                      void* recv, const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                      std::span<const MPI_Datatype> recvtypes) const {
    check(with_counts(tonari_alltoallw, tonari_alltoallw_c, sendcounts, count(), recvcounts,
                      sources_count(), [&](auto function, auto n, auto m) {
                        return function(send, n, array(senddispls, count()),
                                        array(sendtypes, count()), recv, m,
                                        array(recvdispls, sources_count()),
                                        array(recvtypes, sources_count()), handle_);
                      }));
  }
  Request ialltoallw(const void* send, const Counts& sendcounts,
                     std::span<const MPI_Aint> senddispls, std::span<const MPI_Datatype> sendtypes,
                     void* recv, const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                     std::span<const MPI_Datatype> recvtypes) const {
    return made([&](tonari_request* out) {
      return with_counts(tonari_ialltoallw, tonari_ialltoallw_c, sendcounts, count(), recvcounts,
                         sources_count(), [&](auto function, auto n, auto m) {
                           return function(send, n, array(senddispls, count()),
                                           array(sendtypes, count()), recv, m,
                                           array(recvdispls, sources_count()),
                                           array(recvtypes, sources_count()), handle_, out);
                         });
    });
  }
  void allgatherv_once(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                       const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                       MPI_Datatype recvtype) const {
    check(with_counts(tonari_allgatherv, tonari_allgatherv_c, if_large(sendcount), 0, recvcounts,
                      sources_count(), [&](auto function, auto, auto m) {
                        return function(send, one_count(m, sendcount), sendtype, recv, m,
                                        array(recvdispls, sources_count()), recvtype, handle_);
                      }));
  }
  Request iallgatherv(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                      const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                      MPI_Datatype recvtype) const {
    return made([&](tonari_request* out) {
      return with_counts(tonari_iallgatherv, tonari_iallgatherv_c, if_large(sendcount), 0,
                         recvcounts, sources_count(), [&](auto function, auto, auto m) {
                           return function(send, one_count(m, sendcount), sendtype, recv, m,
                                           array(recvdispls, sources_count()), recvtype, handle_,
                                           out);
                         });
    });
  }
  void allgatherw_once(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                       const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                       std::span<const MPI_Datatype> recvtypes) const {
    check(with_counts(tonari_allgatherw, tonari_allgatherw_c, if_large(sendcount), 0, recvcounts,
                      sources_count(), [&](auto function, auto, auto m) {
                        return function(send, one_count(m, sendcount), sendtype, recv, m,
                                        array(recvdispls, sources_count()),
                                        array(recvtypes, sources_count()), handle_);
                      }));
  }
  Request iallgatherw(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                      const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                      std::span<const MPI_Datatype> recvtypes) const {
    return made([&](tonari_request* out) {
      return with_counts(tonari_iallgatherw, tonari_iallgatherw_c, if_large(sendcount), 0,
                         recvcounts, sources_count(), [&](auto function, auto, auto m) {
                           return function(send, one_count(m, sendcount), sendtype, recv, m,
                                           array(recvdispls, sources_count()),
                                           array(recvtypes, sources_count()), handle_, out);
                         });
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
  return alltoall_inplace_init(all.data, detail::Spans::block(all, detail::Spans::ranks(comm)),
                               all.type(), comm, info);
}
template <detail::Writable Buffer>
Request ialltoall_inplace(Buffer&& buf, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  const auto all = detail::elements_of(buf);
  return ialltoall_inplace(all.data, detail::Spans::block(all, detail::Spans::ranks(comm)),
                           all.type(), comm, info);
}
template <detail::Writable Buffer>
void alltoall_inplace(Buffer&& buf, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  const auto all = detail::elements_of(buf);
  alltoall_inplace(all.data, detail::Spans::block(all, detail::Spans::ranks(comm)), all.type(),
                   comm, info);
}

inline Request alltoallv_inplace_init(void* buf, const Counts& counts,
                                      std::span<const MPI_Aint> displs, MPI_Datatype type,
                                      MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return detail::Spans::with_counts(
        tonari_alltoallv_inplace_init, tonari_alltoallv_inplace_init_c, counts,
        detail::Spans::ranks(comm), [&](auto function, auto n) {
          return function(buf, n, detail::Spans::per_rank(displs, comm), type, comm, info, out);
        });
  });
}
inline Request ialltoallv_inplace(void* buf, const Counts& counts, std::span<const MPI_Aint> displs,
                                  MPI_Datatype type, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return detail::Spans::with_counts(
        tonari_ialltoallv_inplace, tonari_ialltoallv_inplace_c, counts, detail::Spans::ranks(comm),
        [&](auto function, auto n) {
          return function(buf, n, detail::Spans::per_rank(displs, comm), type, comm, info, out);
        });
  });
}
inline void alltoallv_inplace(void* buf, const Counts& counts, std::span<const MPI_Aint> displs,
                              MPI_Datatype type, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  check(detail::Spans::with_counts(tonari_alltoallv_inplace, tonari_alltoallv_inplace_c, counts,
                                   detail::Spans::ranks(comm), [&](auto function, auto n) {
                                     return function(buf, n, detail::Spans::per_rank(displs, comm),
                                                     type, comm, info);
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
        tonari_alltoallw_inplace_init, tonari_alltoallw_inplace_init_c, counts,
        detail::Spans::ranks(comm), [&](auto function, auto n) {
          return function(buf, n, detail::Spans::per_rank(displs, comm),
                          detail::Spans::per_rank(types, comm), comm, info, out);
        });
  });
}
inline Request ialltoallw_inplace(void* buf, const Counts& counts, std::span<const MPI_Aint> displs,
                                  std::span<const MPI_Datatype> types, MPI_Comm comm,
                                  MPI_Info info = MPI_INFO_NULL) {
  return detail::Spans::made([&](tonari_request* out) {
    return detail::Spans::with_counts(
        tonari_ialltoallw_inplace, tonari_ialltoallw_inplace_c, counts, detail::Spans::ranks(comm),
        [&](auto function, auto n) {
          return function(buf, n, detail::Spans::per_rank(displs, comm),
                          detail::Spans::per_rank(types, comm), comm, info, out);
        });
  });
}
inline void alltoallw_inplace(void* buf, const Counts& counts, std::span<const MPI_Aint> displs,
                              std::span<const MPI_Datatype> types, MPI_Comm comm,
                              MPI_Info info = MPI_INFO_NULL) {
  check(detail::Spans::with_counts(tonari_alltoallw_inplace, tonari_alltoallw_inplace_c, counts,
                                   detail::Spans::ranks(comm), [&](auto function, auto n) {
                                     return function(buf, n, detail::Spans::per_rank(displs, comm),
                                                     detail::Spans::per_rank(types, comm), comm,
                                                     info);
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
        tonari_alltoallv_inplace_general_init, tonari_alltoallv_inplace_general_init_c, sendcounts,
        detail::Spans::ranks(comm), recvcounts, detail::Spans::ranks(comm),
        [&](auto function, auto n, auto m) {
          return function(buf, n, detail::Spans::per_rank(senddispls, comm), m,
                          detail::Spans::per_rank(recvdispls, comm), type, comm, info, out);
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
        tonari_ialltoallv_inplace_general, tonari_ialltoallv_inplace_general_c, sendcounts,
        detail::Spans::ranks(comm), recvcounts, detail::Spans::ranks(comm),
        [&](auto function, auto n, auto m) {
          return function(buf, n, detail::Spans::per_rank(senddispls, comm), m,
                          detail::Spans::per_rank(recvdispls, comm), type, comm, info, out);
        });
  });
}
inline void alltoallv_inplace_general(void* buf, const Counts& sendcounts,
                                      std::span<const MPI_Aint> senddispls,
                                      const Counts& recvcounts,
                                      std::span<const MPI_Aint> recvdispls, MPI_Datatype type,
                                      MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
  check(detail::Spans::with_counts(
      tonari_alltoallv_inplace_general, tonari_alltoallv_inplace_general_c, sendcounts,
      detail::Spans::ranks(comm), recvcounts, detail::Spans::ranks(comm),
      [&](auto function, auto n, auto m) {
        return function(buf, n, detail::Spans::per_rank(senddispls, comm), m,
                        detail::Spans::per_rank(recvdispls, comm), type, comm, info);
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
