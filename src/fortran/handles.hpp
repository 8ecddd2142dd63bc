// SPDX-License-Identifier: BSD-3-Clause
// Handles of MPI out of what Fortran programs have in their place: integers.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "mpi/same_mpi.hpp"

namespace tonari {

// From MPI 5 on; its ABI has no MPI_Comm_f2c. In C an INTEGER of Fortran is int in all MPIs.
#if MPI_VERSION >= 5
#define TONARI_NUMBERED(kind) MPI_##kind##_fromint
#else
#define TONARI_NUMBERED(kind) MPI_##kind##_f2c
#endif

// A program with sessions alone never says that its MPI is initialized. Its communicators prove it,
// so a function turns its communicator first.
inline MPI_Comm comm_of(int number) {
  if (!is_same_mpi() && !is_number_of_session(number)) return MPI_COMM_NULL;
  const MPI_Comm comm = TONARI_NUMBERED(Comm)(number);
  if (comm == MPI_Comm{}) return MPI_COMM_NULL;
  note_session(comm);
  return comm;
}

// Only an MPI that is initialized, and ours, can be asked: otherwise the null handle leads to the
// call that says so. Some MPIs have macros for these functions.
#define TONARI_FROM_FORTRAN(name, Handle, kind, null)     \
  inline Handle name(int number) {                        \
    if (!is_same_mpi()) return null;                      \
    const Handle handle = TONARI_NUMBERED(kind)(number);  \
    return handle == Handle{} ? null : handle; /* none */ \
  }
TONARI_FROM_FORTRAN(type_of, MPI_Datatype, Type, MPI_DATATYPE_NULL)
TONARI_FROM_FORTRAN(op_of, MPI_Op, Op, MPI_OP_NULL)
TONARI_FROM_FORTRAN(info_of, MPI_Info, Info, MPI_INFO_NULL)
#undef TONARI_FROM_FORTRAN
#undef TONARI_NUMBERED

// As C declares an array of them.
inline std::vector<MPI_Datatype> types_of(const int types[], int count) {
  std::vector<MPI_Datatype> all;
  for (const int type : std::span(types, types && count > 0 ? std::size_t(count) : 0))
    all.push_back(type_of(type));
  return all;
}

}  // namespace tonari
