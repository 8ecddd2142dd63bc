// SPDX-License-Identifier: BSD-3-Clause
// Numbers of all ranks as one, and the clock.
#pragma once

#include <mpi.h>

#include <chrono>
#include <type_traits>

namespace bench {

template <class T>
T over_ranks(T mine, MPI_Op op, MPI_Comm comm) {
  const MPI_Datatype type = std::is_same_v<T, double> ? MPI_DOUBLE
                            : std::is_same_v<T, int>  ? MPI_INT
                            : std::is_same_v<T, long> ? MPI_LONG
                                                      : MPI_LONG_LONG;
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, type, op, comm);
  return mine;
}

template <class T>
T most(T mine, MPI_Comm comm) {
  return over_ranks(mine, MPI_MAX, comm);
}

inline bool on_all(bool mine, MPI_Comm comm) { return over_ranks<int>(mine, MPI_LAND, comm) != 0; }

// Seconds.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace bench
