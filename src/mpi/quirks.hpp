// SPDX-License-Identifier: BSD-3-Clause
// The differences between MPIs, each with the version and the symptom that it answers.
#pragma once

#include <mpi.h>

#include <string_view>

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

namespace tonari {

// Mistakes of the MPI that the program runs with. They depend on it, not on the MPI that this was
// compiled with: MPICH 5 takes the place of MPICH 4, and one library for the standard ABI of MPI 5
// runs with all.
struct Quirks {
  // MPICH 4.0.2, neighborhood collectives on distributed graphs: alltoall delivers the blocks of
  // repeated edges in reverse (v and w do not), and alltoallw receives no more blocks than the rank
  // sends; what it leaves behind spoils later communicators. Both are right in 5.0.2.
  bool neighbors = false;

  // MPICH 4.0.2, seen on four ranks: MPI_Ialltoallw with MPI_IN_PLACE copies a wrong number of
  // bytes, and fails on some ranks alone ("Message truncated"). A proof by one exchange may pass.
  bool alltoallw_in_place = false;

  // Long messages whose sender describes by bytes what its receiver describes by longer elements:
  // MPICH 4.0.2 loses the element that a packet's end cuts, so there everything is described by
  // bytes. Open MPI 4.1.4 does not mind, but loses bytes in structures of interleaved vectors of
  // bytes, so there the user's types stay.
  bool bytes_only = false;

  // Open MPI 5.0 (seen in 5.0.7 and 5.0.11, not in 4.1.4): a distributed graph made of a Cartesian
  // communicator keeps the grid's mark. MPI_Topo_test says MPI_CART, and the neighborhood
  // collectives read lists of a length that is not theirs (open-mpi/ompi issue 14438).
  bool graph_keeps_topology = false;

  // Open MPI 4.1.4: if MPI_Comm_idup finds no communicator left, MPI_Test calls the error handler
  // of MPI_COMM_WORLD, whatever communicator was to be duplicated.
  bool idup_fails_at_world = false;

  // Open MPI 5.0.11: if MPI_Comm_idup finds no communicator left, the next one frees memory that it
  // does not own. MPI_Comm_dup does not.
  bool idup_spoils = false;

  bool operator==(const Quirks&) const = default;
};

// Those of an MPI, from what its MPI_Get_library_version returns. Relatives of MPICH do not say
// which MPICH they are made of: they count as MPICH 4.
Quirks quirks_of(std::string_view library_version);

// Those of the MPI that the program runs with.
const Quirks& quirks();

// MPICH 4.0.2: MPI_MAX of MPI_UINT64_T compares as if the highest bit were a sign. Words that ranks
// compare stay below 2^62 on every MPI (engine/wait/agree.hpp), so this needs no switch.

// Open MPI 4.1.4: a vector of single bytes with the stride -1 is taken for contiguous bytes, in the
// other order. Types of ours have none on any MPI (mpi/type_of_bytes.cpp), so this needs no
// switch.

}  // namespace tonari
