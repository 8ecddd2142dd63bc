// SPDX-License-Identifier: BSD-3-Clause
// Machine files of simulations: those of all commands, with a few lines more.
//
//   self_latency, self_overhead   of a rank's messages to itself; default: shared_latency, ...
//   ranks_per_node, ranks_per_nic consecutive ranks; default 1
//   cores                         that all ranks share; default: as ranks_per_core says
//   network, hop                  as in topology.hpp, and what a hop adds to L
//   noise_period, noise_duration  detours of the operating system
#pragma once

#include <string>

#include "simulate/machine.hpp"

namespace tonari::sim {

// Throws Errc::file with what is missing or impossible.
Machine read_cluster_file(const std::string& path);

// Throws Errc::argument if the network has no room for so many ranks.
void check_room(const Machine& machine, std::uint64_t ranks);

}  // namespace tonari::sim
