// SPDX-License-Identifier: BSD-3-Clause
// Persistent neighborhood collectives: MPI 4; Open MPI 5 has them although it calls itself MPI 3.1,
// Open MPI 4 has them under another name. Elsewhere BENCH_PERSISTENT is not defined.
#pragma once

#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define BENCH_PERSISTENT(name) MPI_##name
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define BENCH_PERSISTENT(name) MPIX_##name
#endif
