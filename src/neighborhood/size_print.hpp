// SPDX-License-Identifier: BSD-3-Clause
// What one rank can say of block sizes, so that one agreement may tell them all.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "channels/arguments.hpp"
#include "engine/comm/local_topology.hpp"
#include "engine/wait/agree.hpp"

namespace tonari {

// What an agreement (engine/wait/agree.hpp) says of the two ballots of a SizePrint.
struct ComparedSizes {
  bool one_size = false, by_number = false;  // the same on all ranks
  std::uint64_t size = 0;                    // the one
};

// Tells sizes without exchanging any, where all blocks have one size, or where blocks on a grid
// have the same sizes by number on all ranks.
struct SizePrint {
  SizePrint() = default;
  // `binding` has the blocks that do not exist as the program gave them: on a mesh they tell what
  // their size is elsewhere.
  SizePrint(const LocalTopology& topology, Collective collective, const Binding& binding);

  // The size of every block; nothing if that takes an exchange.
  std::optional<std::vector<Bytes>> sizes(const ComparedSizes& compared) const;

  Ballot one_size{0, true}, by_number{0, true};
  std::size_t entries = 1;    // of the result where all blocks have one size
  std::vector<Bytes> listed;  // by number; empty if this rank's ends differ, and on graphs
};

inline const Block& sent(Collective collective, const Binding& binding, std::size_t i) {
  return binding.send[collective == Collective::alltoall ? i : 0];
}

// Block i is the same on all ranks in an all-to-all on a grid; elsewhere all blocks are looked at
// as one.
inline bool numbered(const LocalTopology& topology, Collective collective) {
  return topology.near && collective == Collective::alltoall;
}

// The number and size of each block that is sent or received along an edge.
inline std::vector<std::pair<std::size_t, Bytes>> blocks_on_edges(const Vertex& vertex,
                                                                  Collective collective,
                                                                  const Binding& binding) {
  std::vector<std::pair<std::size_t, Bytes>> all;
  for (std::size_t i = 0; i < vertex.targets.size(); ++i)
    if (vertex.targets[i] >= 0) all.emplace_back(i, sent(collective, binding, i).bytes);
  for (std::size_t j = 0; j < vertex.sources.size(); ++j)
    if (vertex.sources[j] >= 0) all.emplace_back(j, binding.recv[j].bytes);
  return all;
}

}  // namespace tonari
