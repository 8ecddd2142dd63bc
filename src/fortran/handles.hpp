// SPDX-License-Identifier: BSD-3-Clause
// Handles of MPI out of what Fortran programs have in their place: integers.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "channels/same_mpi.hpp"

namespace tonari {

// Only an MPI that is initialized, and ours, can be asked: otherwise the null handle leads to the
// call that says so. Some MPIs have macros for these functions.
#define TONARI_FROM_FORTRAN(name, Handle, f2c, null)      \
  inline Handle name(MPI_Fint number) {                   \
    if (!is_same_mpi()) return null;                      \
    const Handle handle = f2c(number);                    \
    return handle == Handle{} ? null : handle; /* none */ \
  }
TONARI_FROM_FORTRAN(comm_of, MPI_Comm, MPI_Comm_f2c, MPI_COMM_NULL)
TONARI_FROM_FORTRAN(type_of, MPI_Datatype, MPI_Type_f2c, MPI_DATATYPE_NULL)
TONARI_FROM_FORTRAN(op_of, MPI_Op, MPI_Op_f2c, MPI_OP_NULL)
TONARI_FROM_FORTRAN(info_of, MPI_Info, MPI_Info_f2c, MPI_INFO_NULL)
#undef TONARI_FROM_FORTRAN

// As C declares an array of them.
inline std::vector<MPI_Datatype> types_of(const MPI_Fint types[], int count) {
  std::vector<MPI_Datatype> all;
  for (const MPI_Fint type : std::span(types, types && count > 0 ? std::size_t(count) : 0))
    all.push_back(type_of(type));
  return all;
}

}  // namespace tonari
