// SPDX-License-Identifier: BSD-3-Clause
// The collective operations on a neighborhood: owner of a tonari_neighborhood. Part of tonari.hpp.
#pragma once

#include <tonari/request.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tonari {
inline namespace api0 {  // the names link apart from anything else of namespace tonari

// Owner of a tonari_neighborhood; move only.
class [[nodiscard]] Neighborhood : detail::Spans {
 public:
  Neighborhood() = default;
  // offsets: C^0, C^1, ... one after the other, as many integers each as cart has dimensions.
  [[nodiscard]] Neighborhood(MPI_Comm cart, std::span<const int> offsets,
                             MPI_Info info = MPI_INFO_NULL) {
    const std::size_t d = dimensions(cart);
    const bool whole =
        offsets.size() % d == 0 && offsets.size() / d <= std::numeric_limits<int>::max();
    // A negative count makes all ranks fail, not just this one.
    if (!whole)
      refuse(std::to_string(offsets.size()) + " integers are no list of offsets in " +
             std::to_string(d) + " dimensions; give " + std::to_string(d) + " for each neighbor");
    check(tonari_neighborhood_create_cart(cart, whole ? static_cast<int>(offsets.size() / d) : -1,
                                          offsets.data(), info, &handle_));
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
    // A negative count makes all ranks fail, not just this one.
    const bool fits = as_many(sourceweights, whole(sources.size()), "sourceweights", "source") &&
                      as_many(destweights, whole(destinations.size()), "destweights", "target");
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

  // The operations are called as in C: alltoall exchanges and returns when that is complete,
  // ialltoall returns a request that is started already, and alltoall_init one to start as often as
  // you like.

  // send: count() blocks of one size; recv: sources_count() of that size. Any contiguous ranges of
  // the same elements (ranges.hpp), which must outlive the request.
  template <detail::Readable Send, detail::Writable Recv>
    requires detail::Alike<Send, Recv>
  Request alltoall_init(Send&& send, Recv&& recv, MPI_Info info = MPI_INFO_NULL) const {
    const auto out = detail::elements_of(send);
    const auto in = detail::elements_of(recv);
    return alltoall_init(out.data, block(out, count(), "send"), out.type(), in.data,
                         block(in, sources_count(), "recv"), in.type(), info);
  }
  // send: one block; recv: sources_count() blocks of its size.
  template <detail::Readable Send, detail::Writable Recv>
    requires detail::Alike<Send, Recv>
  Request allgather_init(Send&& send, Recv&& recv, MPI_Info info = MPI_INFO_NULL) const {
    const auto out = detail::elements_of(send);
    const auto in = detail::elements_of(recv);
    return allgather_init(out.data, all(out, "send"), out.type(), in.data,
                          block(in, sources_count(), "recv"), in.type(), info);
  }

  Request alltoall_init(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                        MPI_Count recvcount, MPI_Datatype recvtype,
                        MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return tonari_alltoall_init_c(send, sendcount, sendtype, recv, recvcount, recvtype, handle_,
                                    info, out);
    });
  }
  Request allgather_init(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                         MPI_Count recvcount, MPI_Datatype recvtype,
                         MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return tonari_allgather_init_c(send, sendcount, sendtype, recv, recvcount, recvtype, handle_,
                                     info, out);
    });
  }
  Request alltoallv_init(const void* send, const Counts& sendcounts,
                         std::span<const MPI_Aint> senddispls, MPI_Datatype sendtype, void* recv,
                         const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                         MPI_Datatype recvtype, MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return with_counts(tonari_alltoallv_init, tonari_alltoallv_init_c, sent(sendcounts),
                         received(recvcounts), [&](auto function, auto n, auto m) {
                           return function(send, n, array(senddispls, count(), "senddispls"),
                                           sendtype, recv, m,
                                           array(recvdispls, sources_count(), "recvdispls"),
                                           recvtype, handle_, info, out);
                         });
    });
  }
  Request allgatherv_init(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                          const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                          MPI_Datatype recvtype, MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return with_counts(tonari_allgatherv_init, tonari_allgatherv_init_c, sendcount,
                         received(recvcounts), [&](auto function, auto n, auto m) {
                           return function(send, n, sendtype, recv, m,
                                           array(recvdispls, sources_count(), "recvdispls"),
                                           recvtype, handle_, info, out);
                         });
    });
  }
  Request alltoallw_init(const void* send, const Counts& sendcounts,
                         std::span<const MPI_Aint> senddispls,
                         std::span<const MPI_Datatype> sendtypes, void* recv,
                         const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                         std::span<const MPI_Datatype> recvtypes,
                         MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return with_counts(tonari_alltoallw_init, tonari_alltoallw_init_c, sent(sendcounts),
                         received(recvcounts), [&](auto function, auto n, auto m) {
                           return function(send, n, array(senddispls, count(), "senddispls"),
                                           array(sendtypes, count(), "sendtypes"), recv, m,
                                           array(recvdispls, sources_count(), "recvdispls"),
                                           array(recvtypes, sources_count(), "recvtypes"), handle_,
                                           info, out);
                         });
    });
  }
  Request allgatherw_init(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                          const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                          std::span<const MPI_Datatype> recvtypes,
                          MPI_Info info = MPI_INFO_NULL) const {
    return made([&](tonari_request* out) {
      return with_counts(tonari_allgatherw_init, tonari_allgatherw_init_c, sendcount,
                         received(recvcounts), [&](auto function, auto n, auto m) {
                           return function(send, n, sendtype, recv, m,
                                           array(recvdispls, sources_count(), "recvdispls"),
                                           array(recvtypes, sources_count(), "recvtypes"), handle_,
                                           info, out);
                         });
    });
  }

  // One-shot calls.
  template <detail::Readable Send, detail::Writable Recv>
    requires detail::Alike<Send, Recv>
  void alltoall(Send&& send, Recv&& recv) const {
    const auto out = detail::elements_of(send);
    const auto in = detail::elements_of(recv);
    alltoall(out.data, block(out, count(), "send"), out.type(), in.data,
             block(in, sources_count(), "recv"), in.type());
  }
  template <detail::Readable Send, detail::Writable Recv>
    requires detail::Alike<Send, Recv>
  void allgather(Send&& send, Recv&& recv) const {
    const auto out = detail::elements_of(send);
    const auto in = detail::elements_of(recv);
    allgather(out.data, all(out, "send"), out.type(), in.data, block(in, sources_count(), "recv"),
              in.type());
  }
  template <detail::Readable Send, detail::Writable Recv>
    requires detail::Alike<Send, Recv>
  Request ialltoall(Send&& send, Recv&& recv) const {
    const auto out = detail::elements_of(send);
    const auto in = detail::elements_of(recv);
    return ialltoall(out.data, block(out, count(), "send"), out.type(), in.data,
                     block(in, sources_count(), "recv"), in.type());
  }
  template <detail::Readable Send, detail::Writable Recv>
    requires detail::Alike<Send, Recv>
  Request iallgather(Send&& send, Recv&& recv) const {
    const auto out = detail::elements_of(send);
    const auto in = detail::elements_of(recv);
    return iallgather(out.data, all(out, "send"), out.type(), in.data,
                      block(in, sources_count(), "recv"), in.type());
  }
  void alltoall(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                MPI_Count recvcount, MPI_Datatype recvtype) const {
    check(tonari_alltoall_c(send, sendcount, sendtype, recv, recvcount, recvtype, handle_));
  }
  void allgather(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
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
  void alltoallv(const void* send, const Counts& sendcounts, std::span<const MPI_Aint> senddispls,
                 MPI_Datatype sendtype, void* recv, const Counts& recvcounts,
                 std::span<const MPI_Aint> recvdispls, MPI_Datatype recvtype) const {
    check(with_counts(tonari_alltoallv, tonari_alltoallv_c, sent(sendcounts), received(recvcounts),
                      [&](auto function, auto n, auto m) {
                        return function(send, n, array(senddispls, count(), "senddispls"), sendtype,
                                        recv, m, array(recvdispls, sources_count(), "recvdispls"),
                                        recvtype, handle_);
                      }));
  }
  Request ialltoallv(const void* send, const Counts& sendcounts,
                     std::span<const MPI_Aint> senddispls, MPI_Datatype sendtype, void* recv,
                     const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                     MPI_Datatype recvtype) const {
    return made([&](tonari_request* out) {
      return with_counts(tonari_ialltoallv, tonari_ialltoallv_c, sent(sendcounts),
                         received(recvcounts), [&](auto function, auto n, auto m) {
                           return function(send, n, array(senddispls, count(), "senddispls"),
                                           sendtype, recv, m,
                                           array(recvdispls, sources_count(), "recvdispls"),
                                           recvtype, handle_, out);
                         });
    });
  }
  void alltoallw(const void* send, const Counts& sendcounts, std::span<const MPI_Aint> senddispls,
                 std::span<const MPI_Datatype> sendtypes, void* recv, const Counts& recvcounts,
                 std::span<const MPI_Aint> recvdispls,
                 std::span<const MPI_Datatype> recvtypes) const {
    check(with_counts(tonari_alltoallw, tonari_alltoallw_c, sent(sendcounts), received(recvcounts),
                      [&](auto function, auto n, auto m) {
                        return function(send, n, array(senddispls, count(), "senddispls"),
                                        array(sendtypes, count(), "sendtypes"), recv, m,
                                        array(recvdispls, sources_count(), "recvdispls"),
                                        array(recvtypes, sources_count(), "recvtypes"), handle_);
                      }));
  }
  Request ialltoallw(const void* send, const Counts& sendcounts,
                     std::span<const MPI_Aint> senddispls, std::span<const MPI_Datatype> sendtypes,
                     void* recv, const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                     std::span<const MPI_Datatype> recvtypes) const {
    return made([&](tonari_request* out) {
      return with_counts(tonari_ialltoallw, tonari_ialltoallw_c, sent(sendcounts),
                         received(recvcounts), [&](auto function, auto n, auto m) {
                           return function(send, n, array(senddispls, count(), "senddispls"),
                                           array(sendtypes, count(), "sendtypes"), recv, m,
                                           array(recvdispls, sources_count(), "recvdispls"),
                                           array(recvtypes, sources_count(), "recvtypes"), handle_,
                                           out);
                         });
    });
  }
  void allgatherv(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                  const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                  MPI_Datatype recvtype) const {
    check(with_counts(tonari_allgatherv, tonari_allgatherv_c, sendcount, received(recvcounts),
                      [&](auto function, auto n, auto m) {
                        return function(send, n, sendtype, recv, m,
                                        array(recvdispls, sources_count(), "recvdispls"), recvtype,
                                        handle_);
                      }));
  }
  Request iallgatherv(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                      const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                      MPI_Datatype recvtype) const {
    return made([&](tonari_request* out) {
      return with_counts(tonari_iallgatherv, tonari_iallgatherv_c, sendcount, received(recvcounts),
                         [&](auto function, auto n, auto m) {
                           return function(send, n, sendtype, recv, m,
                                           array(recvdispls, sources_count(), "recvdispls"),
                                           recvtype, handle_, out);
                         });
    });
  }
  void allgatherw(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                  const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                  std::span<const MPI_Datatype> recvtypes) const {
    check(with_counts(tonari_allgatherw, tonari_allgatherw_c, sendcount, received(recvcounts),
                      [&](auto function, auto n, auto m) {
                        return function(send, n, sendtype, recv, m,
                                        array(recvdispls, sources_count(), "recvdispls"),
                                        array(recvtypes, sources_count(), "recvtypes"), handle_);
                      }));
  }
  Request iallgatherw(const void* send, MPI_Count sendcount, MPI_Datatype sendtype, void* recv,
                      const Counts& recvcounts, std::span<const MPI_Aint> recvdispls,
                      std::span<const MPI_Datatype> recvtypes) const {
    return made([&](tonari_request* out) {
      return with_counts(tonari_iallgatherw, tonari_iallgatherw_c, sendcount, received(recvcounts),
                         [&](auto function, auto n, auto m) {
                           return function(send, n, sendtype, recv, m,
                                           array(recvdispls, sources_count(), "recvdispls"),
                                           array(recvtypes, sources_count(), "recvtypes"), handle_,
                                           out);
                         });
    });
  }

 private:
  Wanted sent(const Counts& counts) const { return {counts, count(), "sendcounts", "neighbor"}; }
  Wanted received(const Counts& counts) const {
    return {counts, sources_count(), "recvcounts", "neighbor"};
  }
  // 1 where there is no topology: creating the neighborhood then says so.
  static std::size_t dimensions(MPI_Comm cart) {
    int topology = MPI_UNDEFINED, d = 1;
    if (cart != MPI_COMM_NULL) MPI_Topo_test(cart, &topology);
    if (topology == MPI_CART) MPI_Cartdim_get(cart, &d);
    return d > 0 ? static_cast<std::size_t>(d) : 1;
  }

  tonari_neighborhood handle_ = TONARI_NEIGHBORHOOD_NULL;
};

}  // namespace api0
}  // namespace tonari
