// SPDX-License-Identifier: BSD-3-Clause
// The differences between MPIs, each with the version and the symptom that it answers.
#pragma once

#include <mpi.h>

// Persistent neighborhood collectives: MPI 4 has MPI_Neighbor_*_init. Open MPI 4.1 announces MPI
// 3.1 and has them as MPIX_ in mpi-ext.h. The compiler's command line may say that it has none
// (tests/without_persistent).
#if defined(TONARI_PERSISTENT_COLLECTIVES)
#elif MPI_VERSION >= 4
#define TONARI_PERSISTENT_COLLECTIVES 1
#define TONARI_NEIGHBOR_ALLTOALL_INIT MPI_Neighbor_alltoall_init
#define TONARI_NEIGHBOR_ALLTOALLW_INIT MPI_Neighbor_alltoallw_init
#define TONARI_NEIGHBOR_ALLGATHER_INIT MPI_Neighbor_allgather_init
#elif defined(OPEN_MPI)
#include <mpi-ext.h>
#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define TONARI_PERSISTENT_COLLECTIVES 1
#define TONARI_NEIGHBOR_ALLTOALL_INIT MPIX_Neighbor_alltoall_init
#define TONARI_NEIGHBOR_ALLTOALLW_INIT MPIX_Neighbor_alltoallw_init
#define TONARI_NEIGHBOR_ALLGATHER_INIT MPIX_Neighbor_allgather_init
#endif
#endif
#ifndef TONARI_PERSISTENT_COLLECTIVES
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5  // announces MPI 3.1, has the MPI 4 names
#define TONARI_PERSISTENT_COLLECTIVES 1
#define TONARI_NEIGHBOR_ALLTOALL_INIT MPI_Neighbor_alltoall_init
#define TONARI_NEIGHBOR_ALLTOALLW_INIT MPI_Neighbor_alltoallw_init
#define TONARI_NEIGHBOR_ALLGATHER_INIT MPI_Neighbor_allgather_init
#else
#define TONARI_PERSISTENT_COLLECTIVES 0
#endif
#endif

// MPICH 4.0.2, neighborhood collectives on distributed graphs: alltoall delivers the blocks of
// repeated edges in reverse (v and w do not), and alltoallw receives no more blocks than the rank
// sends; what it leaves behind spoils later communicators. Both are right in 5.0.2.
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 50000000
#define TONARI_QUIRK_MPICH_4_NEIGHBORS 1
#else
#define TONARI_QUIRK_MPICH_4_NEIGHBORS 0
#endif

// MPICH 4.0.2, seen on four ranks: MPI_Ialltoallw with MPI_IN_PLACE copies a wrong number of bytes,
// and fails on some ranks alone ("Message truncated"). A proof by one exchange may pass.
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 50000000
#define TONARI_QUIRK_MPICH_4_INPLACE_W 1
#else
#define TONARI_QUIRK_MPICH_4_INPLACE_W 0
#endif

// Long messages whose sender describes by bytes what its receiver describes by longer elements:
// MPICH 4.0.2 loses the element that a packet's end cuts, so there everything is described by
// bytes. Open MPI 4.1.4 does not mind, but loses bytes in structures of interleaved vectors of
// bytes, so there the user's types stay.
#if defined(MPICH_NUMVERSION)
#define TONARI_QUIRK_BYTES_ONLY 1
#else
#define TONARI_QUIRK_BYTES_ONLY 0
#endif

// MPICH 4.0.2: MPI_MAX of MPI_UINT64_T compares as if the highest bit were a sign. Words that ranks
// compare stay below 2^62 on every MPI (engine/agree.hpp), so this needs no switch.

// Open MPI 5.0 (seen in 5.0.7 and 5.0.11, not in 4.1.4): a distributed graph made of a Cartesian
// communicator keeps the grid's mark. MPI_Topo_test says MPI_CART, and the neighborhood collectives
// read lists of a length that is not theirs (open-mpi/ompi issue 14438).
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#define TONARI_QUIRK_GRAPH_KEEPS_TOPOLOGY 1
#else
#define TONARI_QUIRK_GRAPH_KEEPS_TOPOLOGY 0
#endif
