// SPDX-License-Identifier: BSD-3-Clause
// Datatypes of data that was packed: the same elements, one behind the other. MPI wants the same
// elements at both ends of a message, and where one end says bytes some MPIs lose some
// (Quirks::bytes_only).
#pragma once

#include <mpi.h>

#include <map>

#include "mpi/owned_type.hpp"

namespace tonari {

// The type's elements in the order in which MPI sends them, without gaps, from displacement 0 on.
// It is committed, and its extent is its size. The type need not be committed. Throws Errc::mpi,
// Errc::overflow.
OwnedType packed_type(MPI_Datatype type);

// One for each type.
class PackedTypes {
 public:
  MPI_Datatype operator()(MPI_Datatype type) {
    OwnedType& made = types_[type];
    if (made.get() == MPI_DATATYPE_NULL) made = packed_type(type);
    return made.get();
  }

 private:
  std::map<MPI_Datatype, OwnedType> types_;
};

}  // namespace tonari
