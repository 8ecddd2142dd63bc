// SPDX-License-Identifier: BSD-3-Clause
#include "channels/native/connect.hpp"

#include "mpi/mpi_error.hpp"
#include "mpi/quirks.hpp"

namespace tonari {
namespace {

// The same ranks in the same order without a topology, where a graph would inherit it.
MPI_Comm without_topology(MPI_Comm comm) {
  MPI_Comm plain = MPI_COMM_NULL;
  if (quirks().graph_keeps_topology)
    call_mpi("MPI_Comm_split", [&] { return MPI_Comm_split(comm, 0, 0, &plain); });
  return plain;
}

}  // namespace

GraphLists::GraphLists(const Vertex& vertex) : sources(vertex.sources), targets(vertex.targets) {
  std::erase(sources, -1);
  std::erase(targets, -1);
  in = static_cast<int>(sources.size()), out = static_cast<int>(targets.size());
  // Empty lists still need valid addresses for MPI_UNWEIGHTED's sake on some MPIs.
  sources.push_back(0), targets.push_back(0);
}

void make_graph(MPI_Comm comm, const GraphLists& lists, OwnedComm& graph) {
  const OwnedComm plain(without_topology(comm));
  if (plain.get() != MPI_COMM_NULL) comm = plain.get();
  call_mpi("MPI_Dist_graph_create_adjacent", [&] {
    return MPI_Dist_graph_create_adjacent(comm, lists.in, lists.sources.data(), MPI_UNWEIGHTED,
                                          lists.out, lists.targets.data(), MPI_UNWEIGHTED,
                                          MPI_INFO_NULL, 0, graph.place());
  });
}

}  // namespace tonari
