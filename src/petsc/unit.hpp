// SPDX-License-Identifier: BSD-3-Clause
// What a unit of PETSc's, the data of one root or leaf, is to tonari.
#pragma once

#include <petscsys.h>

namespace tonari::petsc {

// Values of a type of the MPI side by side. With count 0 tonari has no such values.
struct Unit {
  MPI_Datatype value = MPI_DATATYPE_NULL;
  int count = 0;
  PetscInt64 bytes = 0;  // from one unit to the next

  bool possible() const { return count > 0; }
  bool operator==(const Unit&) const = default;
};

// Any unit whose bytes lie within its extent, to be copied: PETSc copies the whole extent, too.
PetscErrorCode unit_of_bytes(MPI_Datatype unit, Unit* found);

// One kind of number, alone or several side by side, to be combined by `op`: MPI_SUM, MPI_MIN or
// MPI_MAX.
PetscErrorCode unit_of_numbers(MPI_Datatype unit, MPI_Op op, Unit* found);

}  // namespace tonari::petsc
