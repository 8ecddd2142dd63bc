// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define CONFORMANCE_PERSISTENT "MPI_"
#define INIT(NAME) MPI_##NAME##_init
#elif defined(OPEN_MPI)
#include <mpi-ext.h>
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
#define CONFORMANCE_PERSISTENT "MPIX_"
#define INIT(NAME) MPIX_##NAME##_init
#endif
#endif

namespace conformance {
namespace {

// The names differ by what stands before and behind them.
#define BLOCKING(NAME, ...) \
  if (call.start == Start::blocking) return MPI_##NAME(__VA_ARGS__, comm)
#define NONBLOCKING(NAME, ...) \
  if (call.start == Start::nonblocking) return MPI_##NAME(__VA_ARGS__, comm, &request)
#ifdef CONFORMANCE_PERSISTENT
#define PERSISTENT(NAME, ...) return INIT(NAME)(__VA_ARGS__, comm, MPI_INFO_NULL, &request)
#else
#define PERSISTENT(NAME, ...) return MPI_ERR_UNSUPPORTED_OPERATION
#endif

#define SMALL(NAME, BEGIN, ...)      \
  do {                               \
    BLOCKING(NAME, __VA_ARGS__);     \
    NONBLOCKING(BEGIN, __VA_ARGS__); \
    PERSISTENT(NAME, __VA_ARGS__);   \
  } while (false)

#if MPI_VERSION >= 4
#define CONFORMANCE_LARGE true
#define LARGE(NAME, BEGIN, ...)                                                                \
  do {                                                                                         \
    if (call.start == Start::blocking) return MPI_##NAME##_c(__VA_ARGS__, comm);               \
    if (call.start == Start::nonblocking) return MPI_##BEGIN##_c(__VA_ARGS__, comm, &request); \
    return MPI_##NAME##_init_c(__VA_ARGS__, comm, MPI_INFO_NULL, &request);                    \
  } while (false)
#else
#define CONFORMANCE_LARGE false
#define LARGE(NAME, BEGIN, ...) return MPI_ERR_UNSUPPORTED_OPERATION
#endif

#define BLOCKS(SIDE) SIDE.buffer, SIDE.count, SIDE.type
#define VECTOR(SIDE) SIDE.buffer, SIDE.counts.data(), SIDE.displacements.data(), SIDE.type
#define LARGE_VECTOR(SIDE) \
  SIDE.buffer, SIDE.large_counts.data(), SIDE.large_displacements.data(), SIDE.type
#define TYPES(SIDE) SIDE.buffer, SIDE.counts.data(), SIDE.displacements.data(), SIDE.types.data()
#define WIDE_TYPES(SIDE) \
  SIDE.buffer, SIDE.counts.data(), SIDE.large_displacements.data(), SIDE.types.data()
#define LARGE_TYPES(SIDE) \
  SIDE.buffer, SIDE.large_counts.data(), SIDE.large_displacements.data(), SIDE.types.data()

int among_neighbors(const Call& call, const Arguments& s, const Arguments& r, MPI_Comm comm,
                    MPI_Request& request) {
  switch (call.operation) {
    case Operation::alltoall:
      SMALL(Neighbor_alltoall, Ineighbor_alltoall, BLOCKS(s), BLOCKS(r));
    case Operation::alltoallv:
      SMALL(Neighbor_alltoallv, Ineighbor_alltoallv, VECTOR(s), VECTOR(r));
    case Operation::alltoallw:
      SMALL(Neighbor_alltoallw, Ineighbor_alltoallw, WIDE_TYPES(s), WIDE_TYPES(r));
    case Operation::allgather:
      SMALL(Neighbor_allgather, Ineighbor_allgather, BLOCKS(s), BLOCKS(r));
    case Operation::allgatherv:
      SMALL(Neighbor_allgatherv, Ineighbor_allgatherv, BLOCKS(s), r.buffer, r.counts.data(),
            r.displacements.data(), r.type);
  }
  return MPI_ERR_ARG;
}

int among_neighbors_large(const Call& call, [[maybe_unused]] const Arguments& s,
                          [[maybe_unused]] const Arguments& r, [[maybe_unused]] MPI_Comm comm,
                          [[maybe_unused]] MPI_Request& request) {
  switch (call.operation) {
    case Operation::alltoall:
      LARGE(Neighbor_alltoall, Ineighbor_alltoall, BLOCKS(s), BLOCKS(r));
    case Operation::alltoallv:
      LARGE(Neighbor_alltoallv, Ineighbor_alltoallv, LARGE_VECTOR(s), LARGE_VECTOR(r));
    case Operation::alltoallw:
      LARGE(Neighbor_alltoallw, Ineighbor_alltoallw, LARGE_TYPES(s), LARGE_TYPES(r));
    case Operation::allgather:
      LARGE(Neighbor_allgather, Ineighbor_allgather, BLOCKS(s), BLOCKS(r));
    case Operation::allgatherv:
      LARGE(Neighbor_allgatherv, Ineighbor_allgatherv, BLOCKS(s), r.buffer, r.large_counts.data(),
            r.large_displacements.data(), r.type);
  }
  return MPI_ERR_ARG;
}

int among_all(const Call& call, const Arguments& s, const Arguments& r, MPI_Comm comm,
              MPI_Request& request) {
  switch (call.operation) {
    case Operation::alltoall:
      SMALL(Alltoall, Ialltoall, BLOCKS(s), BLOCKS(r));
    case Operation::alltoallv:
      SMALL(Alltoallv, Ialltoallv, VECTOR(s), VECTOR(r));
    case Operation::alltoallw:
      SMALL(Alltoallw, Ialltoallw, TYPES(s), TYPES(r));
    default:
      return MPI_ERR_ARG;
  }
}

int among_all_large(const Call& call, [[maybe_unused]] const Arguments& s,
                    [[maybe_unused]] const Arguments& r, [[maybe_unused]] MPI_Comm comm,
                    [[maybe_unused]] MPI_Request& request) {
  switch (call.operation) {
    case Operation::alltoall:
      LARGE(Alltoall, Ialltoall, BLOCKS(s), BLOCKS(r));
    case Operation::alltoallv:
      LARGE(Alltoallv, Ialltoallv, LARGE_VECTOR(s), LARGE_VECTOR(r));
    case Operation::alltoallw:
      LARGE(Alltoallw, Ialltoallw, LARGE_TYPES(s), LARGE_TYPES(r));
    default:
      return MPI_ERR_ARG;
  }
}

const char* const names[] = {"alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv"};

bool exists(const Call& call) {
#ifndef CONFORMANCE_PERSISTENT
  if (call.start == Start::persistent) return false;
#endif
  if (call.large && !CONFORMANCE_LARGE) return false;
  return call.neighbors || !gathers(call.operation);
}

const char* prefix(const Call& call) {
#ifdef CONFORMANCE_PERSISTENT
  if (call.start == Start::persistent) return CONFORMANCE_PERSISTENT;
#endif
  return call.start == Start::nonblocking ? "MPI_I" : "MPI_";
}

}  // namespace

std::string Call::name() const {
  std::string name = std::string(neighbors ? "neighbor_" : "") + names[static_cast<int>(operation)];
  if (start != Start::nonblocking) name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return prefix(*this) + name + (start == Start::persistent ? "_init" : "") + (large ? "_c" : "");
}

std::vector<Call> all_calls() {
  std::vector<Call> all;
  for (const bool neighbors : {true, false})
    for (const Start start : {Start::blocking, Start::nonblocking, Start::persistent})
      for (const bool large : {false, true})
        for (int o = 0; o < 5; ++o)
          if (const Call call{static_cast<Operation>(o), start, large, neighbors}; exists(call))
            all.push_back(call);
  return all;
}

int make(const Call& call, const Arguments& send, const Arguments& receive, MPI_Comm comm,
         MPI_Request& request) {
  const auto function = call.neighbors ? (call.large ? among_neighbors_large : among_neighbors)
                                       : (call.large ? among_all_large : among_all);
  return function(call, send, receive, comm, request);
}

}  // namespace conformance
