// SPDX-License-Identifier: BSD-3-Clause
// Whether the PETSc of the program is the one that the library was built for. It knows the insides
// of star forests, so with another one it would not work.
#pragma once

#include <petscsys.h>

namespace tonari::petsc {

// One sentence says what differs and what to change.
PetscErrorCode require_same_petsc();

}  // namespace tonari::petsc
