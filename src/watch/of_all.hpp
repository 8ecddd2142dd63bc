// SPDX-License-Identifier: BSD-3-Clause
// One value of all ranks. Collective.
#pragma once

#include <mpi.h>

namespace tonari::watch {

template <class Value>
Value of_all(Value mine, MPI_Datatype type, MPI_Op how, MPI_Comm comm) {
  Value all = mine;
  PMPI_Allreduce(&mine, &all, 1, type, how, comm);
  return all;
}
inline bool all_say(bool yes, MPI_Comm comm) {
  return of_all(int{yes}, MPI_INT, MPI_MIN, comm) != 0;
}

}  // namespace tonari::watch
