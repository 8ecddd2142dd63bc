// SPDX-License-Identifier: BSD-3-Clause
// More elements than the int counts of an MPI can say: a datatype describes them.
#pragma once

#include <mpi.h>

#include <vector>

#include "mpi/owned_type.hpp"

namespace tonari {

// Elements one behind the other, at the type's extent; not committed. count is at least 1. Throws
// Errc::overflow or Errc::mpi.
OwnedType elements_of(MPI_Count count, MPI_Datatype type);

struct CountedType {
  int count;
  MPI_Datatype type;
};
// The same elements with a count that is an int. A type that has to be made for that is committed,
// and kept in `owned`.
CountedType with_int_count(MPI_Count count, MPI_Datatype type, std::vector<OwnedType>& owned);

// Bytes of one element, also where that is no int.
MPI_Count size_of_type(MPI_Datatype type);

}  // namespace tonari
