// SPDX-License-Identifier: BSD-3-Clause
// How a failure of tonari becomes an error of PETSc: its sentence goes on as it is.
#pragma once

#include <petscsys.h>
#include <tonari/tonari.h>

namespace tonari::petsc {

// What functions of PETSc return if nothing is wrong.
inline constexpr PetscErrorCode success = static_cast<PetscErrorCode>(0);

// comm: those that have the same error. PETSC_COMM_SELF where a rank may be alone with it.
inline PetscErrorCode said(MPI_Comm comm, int code) {
  PetscFunctionBegin;
  PetscCheck(code == TONARI_SUCCESS, comm, PETSC_ERR_LIB, "tonari: %s", tonari_last_error());
  PetscFunctionReturn(success);
}

}  // namespace tonari::petsc
