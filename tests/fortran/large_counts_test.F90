! SPDX-License-Identifier: BSD-3-Clause
! The operations again, with counts of kind MPI_COUNT_KIND.
#define COUNT integer(MPI_COUNT_KIND)
#include "operations_test.F90"
