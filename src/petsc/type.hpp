// SPDX-License-Identifier: BSD-3-Clause
// The type `tonari` of star forests: that of basic, with tonari in front of its exchanges.
#pragma once

#include <petscsf.h>

namespace tonari::petsc {

inline constexpr const char* type_name = "tonari";

// As PetscSFRegister takes it.
PetscErrorCode create(PetscSF sf);

}  // namespace tonari::petsc
