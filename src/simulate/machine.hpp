// SPDX-License-Identifier: BSD-3-Clause
// The simulated machine, in whole numbers: equal input then gives equal times, to the bit.
#pragma once

#include <cstdint>
#include <string_view>

#include "cost/loggp.hpp"
#include "simulate/topology.hpp"

namespace tonari::sim {

using Ticks = std::uint64_t;  // femtoseconds
inline constexpr double ticks_per_second = 1e15;
inline constexpr Ticks nanosecond = 1'000'000;
inline constexpr Ticks longest_time = Ticks{1} << 62;  // more than an hour
inline constexpr Ticks never = ~Ticks{0};

Ticks to_ticks(double seconds);  // the nearest; `longest_time` at most
inline double to_seconds(Ticks ticks) { return static_cast<double>(ticks) / ticks_per_second; }

// What a message costs between two ranks of one distance class.
struct Link {
  Ticks latency = 0;      // from the end of the sender's overhead to the receiver
  Ticks overhead = 0;     // of a processor, at each end
  Ticks gap = 0;          // least time between two messages of one interface
  Ticks byte = 0;         // per byte after the first: of both interfaces, and of the receiver
  bool interface = true;  // it passes the network interfaces of both ends
};

// Detours of the operating system: each rank stops for `duration` once in a `period`, at a phase of
// its own (Hoefler, Schneider, Lumsdaine 2010, synthetic noise).
struct Noise {
  Ticks period = 0, duration = 0;  // a period of 0: none
  std::uint64_t seed = 1;
};

// Ranks that take turns on cores, as in src/cost/links.hpp: the work of a processor takes so many
// times as long, and what arrives from another rank waits for as many turns.
struct Sharing {
  std::uint32_t ranks_per_core = 1;
  std::uint32_t cores = 0;  // that all ranks share; 0: `ranks_per_core` says how many share one
  Ticks turn = 0;

  double times(std::uint32_t ranks) const {
    return cores == 0 ? ranks_per_core : ranks > cores ? static_cast<double>(ranks) / cores : 1;
  }
};

struct Machine {
  Link self, node, network;
  std::uint64_t eager = 4096;  // larger messages of the network end at the sender once received
  Ticks rendezvous = 0;        // and arrive so much later
  std::uint32_t ranks_per_node = 1;  // consecutive ranks
  std::uint32_t ranks_per_nic = 1;   // consecutive ranks that share a network interface
  Topology topology;                 // of nodes
  Ticks hop = 0;                     // what a hop of it adds to the latency
  Noise noise;
  Sharing sharing;
  double work = 1;  // calculations take so many times as long
};

// Whether a message costs the same wherever its ranks are.
inline bool uniform(const Machine& machine) {
  return machine.ranks_per_node == 1 && machine.ranks_per_nic == 1 && machine.hop == 0 &&
         machine.noise.period == 0;
}

// "L", "o", "g" or "G" of its network. Throws Errc::argument.
Ticks parameter_of(const Machine& machine, std::string_view name);
// The same machine with this parameter so many times as large.
Machine scaled(Machine machine, std::string_view parameter, double factor);

// The same for so many ranks, with turns that are part of what links and calculations take.
Machine in_turns(Machine machine, std::uint32_t ranks);
// So many times as long, `longest_time` at most.
Ticks stretched(Ticks time, double times);

// A rank is alone on its node. Messages to itself cost what shared memory does.
Machine machine_of(const LogGP& machine);

}  // namespace tonari::sim
