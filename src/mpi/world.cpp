// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/world.hpp"

#include "mpi/mpi_error.hpp"

namespace tonari {

bool call_in_finalize(MPI_Comm_delete_attr_function* function) {
  if (!world_runs()) return false;
  int key = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, function, &key, nullptr),
            "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  return true;
}

}  // namespace tonari
