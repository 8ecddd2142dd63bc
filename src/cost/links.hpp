// SPDX-License-Identifier: BSD-3-Clause
// What messages cost by distance: between ranks of one node, and between nodes. A rank's blocks for
// itself are copies.
#pragma once

#include <cstdint>
#include <span>

#include "cost/loggp.hpp"

namespace tonari {

struct LinkCost {
  LogGP machine;
  ChannelCost channel = {};
};

struct LinkCosts {
  LinkCost network, node;
  // A number for each rank, equal for those of one node. Empty: all messages cost what `network`
  // says.
  std::span<const std::int32_t> node_of = {};

  bool near(std::int32_t a, std::int32_t b) const {
    return !node_of.empty() &&
           node_of[static_cast<std::size_t>(a)] == node_of[static_cast<std::size_t>(b)];
  }
};

// The same machine for an exchange in which each rank touches so many bytes. Where those of a
// core's ranks do not fit into its cache, a byte takes longer in copies, and in messages on a node,
// which are copies, too.
LogGP touching(const LogGP& machine, double bytes);

// All messages cost what those between nodes do.
LinkCosts alike(const LogGP& machine, ChannelCost channel);

// What a message between nodes costs, and one on a node. The parameters are those of one rank of a
// core that ranks share: each of its turns waits for those of the others. So the work of a
// processor takes as many times as long, and what arrives waits until its receiver has its turn.
LogGP between_nodes(const LogGP& machine);
LogGP on_a_node(const LogGP& machine);

// The same through memory that ranks of a node share: there is no matching, and one copy at each
// end. A receiver takes the bytes out of the sender's cache.
LinkCost through_memory(const LogGP& machine);

// Messages of the MPI. node_of: as above, and not looked at where there is one node.
LinkCosts mpi_messages(const LogGP& machine, ChannelCost channel, bool several_nodes,
                       std::span<const std::int32_t> node_of);

}  // namespace tonari
