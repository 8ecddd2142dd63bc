// SPDX-License-Identifier: BSD-3-Clause
// Fortran's numbers among the datatypes of MPI.
#pragma once

#include <mpi.h>

namespace tonari {

// The predefined type of C for the numbers of a predefined type of Fortran, such as MPI_DOUBLE for
// MPI_DOUBLE_PRECISION; any other type as it is.
MPI_Datatype c_number(MPI_Datatype type);

}  // namespace tonari
