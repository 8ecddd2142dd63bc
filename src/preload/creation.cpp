// SPDX-License-Identifier: BSD-3-Clause
// Where programs make communicators with neighbors: all ranks are there by MPI's own rules, which
// exchanges that begin later cannot count on.
#include "preload/ahead.hpp"
#include "preload/call.hpp"

namespace tonari::preload {
namespace {

// The new communicator is there if rc says so.
int made(int rc, const void* site, const void* newcomm) {
  if (rc != MPI_SUCCESS || all_calls_pass() || not_from_program(site)) return rc;
  const MPI_Comm comm = *static_cast<const MPI_Comm*>(newcomm);
  if (comm != MPI_COMM_NULL) prepare(comm);
  return rc;
}

}  // namespace

// `gives`: what the MPI's function is called with, in parentheses; newcomm is the last of it.
#define TONARI_MAKES(name, takes, gives) \
  TONARI_IN_FRONT_OF(name, takes, made(called.real gives, called.site, newcomm))

TONARI_MAKES(MPI_Cart_create,
             (Handle comm, int ndims, const int dims[], const int periods[], int reorder,
              void* newcomm),
             (comm, ndims, dims, periods, reorder, newcomm));
TONARI_MAKES(MPI_Cart_sub, (Handle comm, const int remain[], void* newcomm),
             (comm, remain, newcomm));
TONARI_MAKES(MPI_Graph_create,
             (Handle comm, int nodes, const int index[], const int edges[], int reorder,
              void* newcomm),
             (comm, nodes, index, edges, reorder, newcomm));
TONARI_MAKES(MPI_Dist_graph_create,
             (Handle comm, int n, const int sources[], const int degrees[],
              const int destinations[], const int weights[], Handle info, int reorder,
              void* newcomm),
             (comm, n, sources, degrees, destinations, weights, info, reorder, newcomm));
TONARI_MAKES(MPI_Dist_graph_create_adjacent,
             (Handle comm, int indegree, const int sources[], const int sourceweights[],
              int outdegree, const int destinations[], const int destweights[], Handle info,
              int reorder, void* newcomm),
             (comm, indegree, sources, sourceweights, outdegree, destinations, destweights, info,
              reorder, newcomm));
TONARI_MAKES(MPI_Comm_dup, (Handle comm, void* newcomm), (comm, newcomm));
TONARI_MAKES(MPI_Comm_dup_with_info, (Handle comm, Handle info, void* newcomm),
             (comm, info, newcomm));

}  // namespace tonari::preload
