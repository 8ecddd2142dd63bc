// SPDX-License-Identifier: BSD-3-Clause
// The blocking neighborhood collectives: each goes through tonari or to the MPI.
#include "preload/blocking_call.hpp"
#include "preload/operations.hpp"

namespace tonari::preload {

// form: of the buffer arguments, whose counts and displacements are of the types that follow.
#define TONARI_BLOCKING(name, Operation, form, Count, Displacement)                 \
  TONARI_IN_FRONT_OF(name, (TONARI_TAKES_##form(Count, Displacement), Handle comm), \
                     call_blocking(called, comm, Operation{{TONARI_GIVES_##form}}))

TONARI_BLOCKING(MPI_Neighbor_alltoall, Alltoall, Equal, int, int);
TONARI_BLOCKING(MPI_Neighbor_alltoallv, Alltoallv, V, int, int);
TONARI_BLOCKING(MPI_Neighbor_alltoallw, Alltoallw, W, int, MPI_Aint);
TONARI_BLOCKING(MPI_Neighbor_allgather, Allgather, Equal, int, int);
TONARI_BLOCKING(MPI_Neighbor_allgatherv, Allgatherv, GatherV, int, int);
#if MPI_VERSION >= 4
TONARI_BLOCKING(MPI_Neighbor_alltoall_c, Alltoall_c, Equal, MPI_Count, MPI_Aint);
TONARI_BLOCKING(MPI_Neighbor_alltoallv_c, Alltoallv_c, V, MPI_Count, MPI_Aint);
TONARI_BLOCKING(MPI_Neighbor_alltoallw_c, Alltoallw_c, W, MPI_Count, MPI_Aint);
TONARI_BLOCKING(MPI_Neighbor_allgather_c, Allgather_c, Equal, MPI_Count, MPI_Aint);
TONARI_BLOCKING(MPI_Neighbor_allgatherv_c, Allgatherv_c, GatherV, MPI_Count, MPI_Aint);
#endif

}  // namespace tonari::preload
