// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/handles.hpp"
#include "tonari/fortran.h"

using namespace tonari;

namespace {

const int* weights(const int* given) { return given ? given : MPI_UNWEIGHTED; }

}  // namespace

extern "C" int tonari_fortran_create_cart(int cart, int s, const int offsets[], int info,
                                          tonari_neighborhood* near) {
  const MPI_Comm on = comm_of(cart);
  return tonari_neighborhood_create_cart(on, s, offsets, info_of(info), near);
}

extern "C" int tonari_fortran_create_adjacent(int comm, int indegree, const int sources[],
                                              const int* sourceweights, int outdegree,
                                              const int destinations[], const int* destweights,
                                              int info, tonari_neighborhood* near) {
  const MPI_Comm on = comm_of(comm);
  return tonari_neighborhood_create_adjacent(on, indegree, sources, weights(sourceweights),
                                             outdegree, destinations, weights(destweights),
                                             info_of(info), near);
}

extern "C" int tonari_fortran_create_from_destinations(int comm, int outdegree,
                                                       const int destinations[], int info,
                                                       tonari_neighborhood* near) {
  const MPI_Comm on = comm_of(comm);
  return tonari_neighborhood_create_from_destinations(on, outdegree, destinations, info_of(info),
                                                      near);
}

extern "C" int tonari_fortran_create_from_comm(int comm, int info, tonari_neighborhood* near) {
  const MPI_Comm on = comm_of(comm);
  return tonari_neighborhood_create_from_comm(on, info_of(info), near);
}
