// SPDX-License-Identifier: BSD-3-Clause
// How many switches lie between two nodes, beyond those that L has in it.
//
//   torus:4x4x4     nodes in row-major order; neighbors are 0 hops apart
//   fat-tree:16     16 nodes per switch, 16 switches per switch above, and so on; nodes of one
//                   switch are 0 hops apart, those of two below one are 2, then 4
//   dragonfly:8,4   8 routers per group and 4 nodes per router; nodes of one router are 0 hops
//                   apart, those of one group 1, others 3 (router, group, router)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tonari::sim {

enum class Network : std::uint8_t { flat, torus, fat_tree, dragonfly };

struct Topology {
  Network network = Network::flat;
  std::vector<std::uint32_t> sizes;  // as in the text
};

// Throws Errc::argument with what is expected. "flat" has no hops.
Topology topology_from_text(const std::string& text);

// Nodes that it has room for; flat, fat-tree and dragonfly grow without end.
std::uint64_t room_of(const Topology& topology);

std::uint32_t hops(const Topology& topology, std::uint32_t a, std::uint32_t b);

}  // namespace tonari::sim
