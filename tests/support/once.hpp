// One-shot calls of the operations in support/oracle.hpp.
#pragma once

#include "support/oracle.hpp"

namespace tonari::test {

// Blocking.
inline int call(Operation op, Side &out, Side &in, tonari_neighborhood near) {
  void *s = out.buffer(), *r = in.buffer();
  const int *n = out.counts.data(), *m = in.counts.data();
  const MPI_Aint *a = out.displacements.data(), *b = in.displacements.data();
  const MPI_Datatype *t = out.types.data(), *u = in.types.data();
  switch (op) {
    case Operation::alltoall:
      return tonari_alltoall(s, *n, *t, r, *m, *u, near);
    case Operation::alltoallv:
      return tonari_alltoallv(s, n, a, *t, r, m, b, *u, near);
    case Operation::alltoallw:
      return tonari_alltoallw(s, n, a, t, r, m, b, u, near);
    case Operation::allgather:
      return tonari_allgather(s, *n, *t, r, *m, *u, near);
    case Operation::allgatherv:
      return tonari_allgatherv(s, *n, *t, r, m, b, *u, near);
    case Operation::allgatherw:
      return tonari_allgatherw(s, *n, *t, r, m, b, u, near);
  }
  return TONARI_ERR_INTERNAL;
}

// Non-blocking.
inline int icall(Operation op, Side &out, Side &in, tonari_neighborhood near,
                 tonari_request *request) {
  void *s = out.buffer(), *r = in.buffer();
  const int *n = out.counts.data(), *m = in.counts.data();
  const MPI_Aint *a = out.displacements.data(), *b = in.displacements.data();
  const MPI_Datatype *t = out.types.data(), *u = in.types.data();
  switch (op) {
    case Operation::alltoall:
      return tonari_ialltoall(s, *n, *t, r, *m, *u, near, request);
    case Operation::alltoallv:
      return tonari_ialltoallv(s, n, a, *t, r, m, b, *u, near, request);
    case Operation::alltoallw:
      return tonari_ialltoallw(s, n, a, t, r, m, b, u, near, request);
    case Operation::allgather:
      return tonari_iallgather(s, *n, *t, r, *m, *u, near, request);
    case Operation::allgatherv:
      return tonari_iallgatherv(s, *n, *t, r, m, b, *u, near, request);
    case Operation::allgatherw:
      return tonari_iallgatherw(s, *n, *t, r, m, b, u, near, request);
  }
  return TONARI_ERR_INTERNAL;
}

// Random buffers of an operation; blocks of the regular forms and of allgathers have `bytes` bytes,
// others up to that.
inline Buffers random_buffers(Operation op, int blocks, int bytes, unsigned seed) {
  Random random(seed);
  std::vector<int> sizes(static_cast<std::size_t>(blocks), bytes);
  if (!gathers(op) && form(op) > 0)
    for (int &size : sizes) size = bytes / 4 * pick(random, 0, 4);
  Random mine(seed + 100 * static_cast<unsigned>(world_rank()));
  const auto style = [&] { return static_cast<Style>(pick(mine, 0, styles - 1)); };
  const auto side = [&] {
    if (form(op) == 0) return regular_side(mine, style(), blocks, bytes);
    return form(op) == 1 ? v_side(mine, style(), sizes, bytes / 4) : w_side(mine, sizes);
  };
  Side out = gathers(op) ? regular_side(mine, style(), 1, bytes) : side();
  return {op, std::move(out), side(), {}};
}

}  // namespace tonari::test
