// SPDX-License-Identifier: BSD-3-Clause
// Allgather sends one block to all neighbors: blocks whose paths share a prefix travel once (Träff
// 2016, §3.2, the prefix trie).
//
// A node is a place P relative to the origin of a block. Every place is reached once, by one step
// from its parent, so paths that meet are shared even where their prefixes differ, also along a
// line: on its way three hops ahead a block is delivered at one and two.
#pragma once

#include <cstdint>
#include <vector>

#include "planners/offsets/routing.hpp"

namespace tonari {

struct AllgatherTree {
  static constexpr std::uint32_t none = ~0u;
  struct Node {
    Vec place;             // shortest form
    std::uint32_t parent;  // node; the root (place 0, node 0) has none
    std::int32_t step;     // the step from the parent to here
    std::uint32_t block;   // lowest i with C^i at this place, or none: the block only passes
  };
  // parents before children, pruned to what some block needs
  std::vector<Node> nodes;
  // per block i: its node; 0 for self blocks; none for blocks no rank has
  std::vector<std::uint32_t> node_of;
  // per node, the blocks delivered below it or at it; only filled for meshes
  std::vector<std::vector<std::uint32_t>> leaves;

  // W: blocks received (and sent) per rank.
  std::size_t volume() const { return nodes.size() - 1; }
};

AllgatherTree build_allgather_tree(const Routing& routing);

}  // namespace tonari
