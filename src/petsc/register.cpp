// SPDX-License-Identifier: BSD-3-Clause
// How PETSc gets to know the type: by -dll_prepend, or by a call of the program.
#include <petscsf.h>
#include <tonari/petsc.h>

#include "petsc/counter.hpp"
#include "petsc/same_petsc.hpp"
#include "petsc/sentences.hpp"
#include "petsc/type.hpp"

using namespace tonari::petsc;

extern "C" PetscErrorCode tonari_petsc_register() {
  PetscFunctionBegin;
  PetscCall(require_same_petsc());
  PetscCall(PetscSFRegister(type_name, create));
  PetscCall(PetscLogEventRegister("SFTonari", PETSCSF_CLASSID, &counter().event));
  PetscFunctionReturn(success);
}

// PETSc calls the function of this name when it has loaded libtonari_petsc.so.
extern "C" TONARI_PETSC_API PetscErrorCode PetscDLLibraryRegister_tonari_petsc() {
  PetscFunctionBegin;
  PetscCall(tonari_petsc_register());
  PetscFunctionReturn(success);
}

extern "C" int64_t tonari_petsc_exchanges() { return counter().exchanges; }

extern "C" int64_t tonari_petsc_passed_on() { return counter().passed_on; }
