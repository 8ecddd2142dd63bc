// SPDX-License-Identifier: BSD-3-Clause
// Where programs make communicators with neighbors: all ranks are there by MPI's own rules, which
// exchanges that begin later cannot count on.
#include "preload/call.hpp"

namespace tonari::preload {
namespace {

// The new communicator is there if rc says so.
int made(int rc, const void* site, const void* newcomm) {
  if (rc != MPI_SUCCESS || wrong_mpi_runs() || from_tonari(site)) return rc;
  const MPI_Comm comm = *static_cast<const MPI_Comm*>(newcomm);
  if (comm != MPI_COMM_NULL) prepare(comm);
  return rc;
}

}  // namespace
}  // namespace tonari::preload

using namespace tonari::preload;

#define TONARI_MAKES(NAME, OURS, NEWCOMM, ...)                            \
  {                                                                       \
    static auto* const real = behind<decltype(OURS)>("PMPI_" #NAME);      \
    return made(real(__VA_ARGS__), __builtin_return_address(0), NEWCOMM); \
  }                                                                       \
  TONARI_ALSO_FOR_FORTRAN(NAME, OURS)

TONARI_IN_FRONT_OF(Cart_create, cart_create, Handle comm, int ndims, const int dims[],
                   const int periods[], int reorder, void* cart)
int cart_create(Handle comm, int ndims, const int dims[], const int periods[], int reorder,
                void* cart) TONARI_MAKES(Cart_create, cart_create, cart, comm, ndims, dims, periods,
                                         reorder, cart)

    TONARI_IN_FRONT_OF(Cart_sub, cart_sub, Handle comm, const int remain[],
                       void* newcomm) int cart_sub(Handle comm, const int remain[],
                                                   void* newcomm) TONARI_MAKES(Cart_sub, cart_sub,
                                                                               newcomm, comm,
                                                                               remain, newcomm)

        TONARI_IN_FRONT_OF(Graph_create, graph_create, Handle comm, int nodes, const int index[],
                           const int edges[], int reorder,
                           void* graph) int graph_create(Handle comm, int nodes, const int index[],
                                                         const int edges[], int reorder,
                                                         void* graph)
            TONARI_MAKES(Graph_create, graph_create, graph, comm, nodes, index, edges, reorder,
                         graph)

                TONARI_IN_FRONT_OF(Dist_graph_create, dist_graph_create, Handle comm, int n,
                                   const int sources[], const int degrees[],
                                   const int destinations[], const int weights[], Handle info,
                                   int reorder,
                                   void* graph) int dist_graph_create(Handle comm, int n,
                                                                      const int sources[],
                                                                      const int degrees[],
                                                                      const int destinations[],
                                                                      const int weights[],
                                                                      Handle info, int reorder,
                                                                      void* graph)
                    TONARI_MAKES(Dist_graph_create, dist_graph_create, graph, comm, n, sources,
                                 degrees, destinations, weights, info, reorder, graph)

                        TONARI_IN_FRONT_OF(
                            Dist_graph_create_adjacent, dist_graph_create_adjacent, Handle comm,
                            int indegree, const int sources[], const int sourceweights[],
                            int outdegree, const int destinations[], const int destweights[],
                            Handle info, int reorder,
                            void* graph) int dist_graph_create_adjacent(Handle comm, int indegree,
                                                                        const int sources[],
                                                                        const int sourceweights[],
                                                                        int outdegree,
                                                                        const int destinations[],
                                                                        const int destweights[],
                                                                        Handle info, int reorder,
                                                                        void* graph)
                            TONARI_MAKES(Dist_graph_create_adjacent, dist_graph_create_adjacent,
                                         graph, comm, indegree, sources, sourceweights, outdegree,
                                         destinations, destweights, info, reorder, graph)

                                TONARI_IN_FRONT_OF(Comm_dup, comm_dup, Handle comm,
                                                   void* newcomm) int comm_dup(Handle comm,
                                                                               void* newcomm)
                                    TONARI_MAKES(Comm_dup, comm_dup, newcomm, comm, newcomm)

                                        TONARI_IN_FRONT_OF(
                                            Comm_dup_with_info, comm_dup_with_info, Handle comm,
                                            Handle info,
                                            void* newcomm) int comm_dup_with_info(Handle comm,
                                                                                  Handle info,
                                                                                  void* newcomm)
                                            TONARI_MAKES(Comm_dup_with_info, comm_dup_with_info,
                                                         newcomm, comm, info, newcomm)
