// SPDX-License-Identifier: BSD-3-Clause
// What an MPI communicator says about its ranks: who talks to whom, and who shares a node.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "channels/node.hpp"
#include "engine/wait/agree.hpp"
#include "topology/grid.hpp"
#include "topology/nodes.hpp"

namespace tonari {

// The neighbors of the calling rank in the order of MPI 4.1, §8.6. MPI_PROC_NULL is -1.
struct TopologyLists {
  std::vector<std::int32_t> targets, sources;
  // Cartesian only, else empty (mirror() finds them). What is sent in the negative direction
  // arrives in the slot of the positive direction; where both neighbors along a dimension are the
  // same rank, counting duplicates would take one for the other.
  std::vector<std::uint32_t> origins;
  std::vector<int> target_weights, source_weights;  // of distributed graphs that have them
  bool weighted = false;
  std::optional<Grid> grid;  // Cartesian with 1 to 8 dimensions
};

// Throws Errc::topology for an intercommunicator: on all ranks, since all know.
void require_intracommunicator(MPI_Comm comm);

// Not collective. comm: an intracommunicator. Throws Errc::topology if it has no topology.
TopologyLists read_topology(MPI_Comm comm);

// Of a communicator with a Cartesian topology; nothing if that has not 1 to 8 dimensions. Not
// collective.
std::optional<Grid> read_grid(MPI_Comm cart);
// The same of any communicator. Throws Errc::topology, on all ranks, if it has no Cartesian
// topology of 1 to `most` dimensions.
Grid require_grid(MPI_Comm comm, int most);

// A list of ranks as a program gives it, with MPI_PROC_NULL as -1. what: "source", "destination".
// Throws Errc::argument if the list is null or an entry is no rank.
std::vector<std::int32_t> read_ranks(MPI_Comm comm, int count, const int* list, const char* what);

// The node of the calling rank.
struct RankNode {
  // as the system tells, or as the environment variable TONARI_NODES says (for tests;
  // topology/nodes.hpp)
  NodeMembers members;
  // those of them that can share memory: made-up nodes can split real ones, but not join them
  std::shared_ptr<const Node> node;
};

// What TONARI_NODES says; empty: nothing.
std::string nodes_in_environment();
// The emulated node of the calling rank, as this text of TONARI_NODES says; without members if it
// is empty. Local; throws Errc::argument if the text makes no sense.
NodeMembers emulated_node(MPI_Comm comm, const std::string& text);
// What ranks compare of the text, and their sentence (Errc::mismatch) if it differs.
Ballot nodes_ballot(const std::string& text);
inline constexpr char other_nodes[] =
    "the environment variable TONARI_NODES differs between ranks; give it to all of them or to "
    "none";
// Collective. emulated: the members that emulated_node has found, from the same text on all ranks.
// In communicators of up to most_told ranks all tell all where they run; in larger ones the MPI is
// asked. meet: an agreement, called whenever this rank can fail no more until the next step is
// over.
RankNode read_node(MPI_Comm comm, NodeMembers emulated, const std::function<void()>& meet,
                   int most_told = 512);

}  // namespace tonari
