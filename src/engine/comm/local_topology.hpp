// SPDX-License-Identifier: BSD-3-Clause
// The position of this rank in a neighborhood of any kind.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "channels/native/native.hpp"
#include "planners/graphs/graph_planner.hpp"
#include "planners/graphs/isomorphic.hpp"
#include "topology/neighborhood.hpp"
#include "topology/vertex.hpp"

namespace tonari {

struct LocalTopology {
  std::shared_ptr<const Neighborhood> near;  // null: a graph
  // send block i goes to vertex.targets[i], receive block j comes from vertex.sources[j]
  Vertex vertex;
  // Set where the program's lists have another order (a graph that was found to be isomorphic): its
  // lists, and its number of each of our blocks, -1 if it does not have it.
  std::optional<Vertex> given;
  std::vector<std::int32_t> send_blocks, recv_blocks;
  GraphFacts facts;   // of a graph
  NativeShape shape;  // the same on all ranks, as all below
  std::uint64_t fingerprint = 0;
  std::size_t neighbors = 0;  // blocks that the busiest rank sends or receives
};

inline const Vertex& as_given(const LocalTopology& topology) {
  return topology.given ? *topology.given : topology.vertex;
}

// The program's number of the existing send or receive block i.
inline std::size_t given_number(const LocalTopology& topology, Buffer side, std::size_t i) {
  if (!topology.given) return i;
  return static_cast<std::size_t>(side == Buffer::send ? topology.send_blocks[i]
                                                       : topology.recv_blocks[i]);
}

// The same of a call: an allgather has one block to send.
inline std::size_t given_number(const LocalTopology& topology, Collective collective, Buffer side,
                                std::size_t i) {
  const bool one = side == Buffer::send && collective == Collective::allgather;
  return one ? 0 : given_number(topology, side, i);
}

// Pure.
LocalTopology topology_in(std::shared_ptr<const Neighborhood> near, int rank);
// Pure. `given` is this rank's vertex of the graph that is the neighborhood, and `isomorphism` this
// rank's.
LocalTopology topology_in(std::shared_ptr<const Neighborhood> near, Vertex given,
                          Isomorphism isomorphism);
// Collective over `bsp`. `vertices`, of the ranks here, are complete, and checked against those
// of the other ranks. The result is that of the rank vertices[k].
LocalTopology topology_in_graph(BspComm& bsp, std::span<const Vertex> vertices, std::size_t k);

}  // namespace tonari
