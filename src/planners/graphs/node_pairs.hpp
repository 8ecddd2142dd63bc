// SPDX-License-Identifier: BSD-3-Clause
// Which rank of a node stands for it in the traffic with another node.
#pragma once

#include <span>
#include <vector>

#include "planners/graphs/bsp_comm.hpp"
#include "topology/vertex.hpp"

namespace tonari {

// One other node that a rank has to do with.
struct Crossing {
  std::int32_t node;
  Word blocks_out = 0, blocks_in = 0;  // that this rank has for that node or gets from it
  // What appoint_for_nodes finds, the same for all ranks of a node: who sends from this node to
  // that one and who receives there, and the other way round; -1 if nothing goes that way.
  std::int32_t sender_here = -1, receiver_there = -1, sender_there = -1, receiver_here = -1;
};

// Crossings of one rank, ascending by node.
using Crossings = std::vector<Crossing>;

// Appoints a sender and a receiver for every ordered pair of nodes, among those that have blocks of
// that pair: who has most, for those need not move; but nobody gets more than a fair share of a
// node's pairs while others could do it. Collective; crossings: one list per rank of bsp.here().
//
// The lowest rank of a node hears how many blocks each of its ranks has for each other node - one
// entry per rank and other node, at most its number of edges - and decides for its end; the two
// nodes tell each other, then their ranks.
void appoint_for_nodes(BspComm& bsp, std::span<const Vertex> vertices,
                       std::span<Crossings> crossings);

}  // namespace tonari
