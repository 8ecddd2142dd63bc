// SPDX-License-Identifier: BSD-3-Clause
// Makes the communicators that MPI's own neighborhood collectives need.
#pragma once

#include <mpi.h>

#include <vector>

#include "mpi/owned_comm.hpp"
#include "topology/vertex.hpp"

namespace tonari {

// A rank's existing neighbors, in the form of MPI's arguments.
struct GraphLists {
  explicit GraphLists(const Vertex& vertex);
  std::vector<int> sources, targets;
  int in = 0, out = 0;
};

// Makes `graph` a communicator with the neighborhood as a distributed graph. Collective; needs only
// MPI's memory.
void make_graph(MPI_Comm comm, const GraphLists& lists, OwnedComm& graph);

}  // namespace tonari
