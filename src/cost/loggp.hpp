// SPDX-License-Identifier: BSD-3-Clause
// What messages and copies cost: LogGP (Alexandrov et al. 1995) with copies. Times are in seconds
// and belong to one machine and MPI.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

namespace tonari {

struct LogGP {
  // latency, from the end of the sender's overhead to the start of the receiver's
  double L = 1.0e-6;
  double o = 0.4e-6;          // overhead of a processor per message, at each end
  double g = 0.1e-6;          // gap: least time between two messages of one rank
  double G = 0.1e-9;          // gap per byte of a long message
  double copy_block = 10e-9;  // start-up of one contiguous copy
  double copy_byte = 0.1e-9;  // per byte of a copy
  // per contiguous piece of a message, in MPI's datatype engine
  double typed_block = 20e-9;
  std::size_t eager = 4096;    // messages up to this size do not wait for the receiver
  double rendezvous = 2.0e-6;  // extra cost of longer messages
  // L and o of messages through shared memory, which need no g, G, eager and rendezvous
  double shared_latency = 0.1e-6;
  double shared_overhead = 0.03e-6;
  // per byte of such a message besides the copies at both ends, as its receiver takes it out of
  // another core's cache; below 0: nothing
  double shared_byte = -1;
  // Per byte of a copy in exchanges that touch more bytes on a core than `cache`. A cache of 0: as
  // if all of them fitted.
  double copy_beyond = 0.1e-9;
  std::size_t cache = 0;
  // The same as the first ones, and eager and rendezvous, for messages of the MPI between ranks of
  // one node, where ranks are on several. Below 0, and an eager limit of 0: as between nodes.
  double node_latency = -1, node_overhead = -1, node_gap = -1, node_byte = -1;
  std::size_t node_eager = 0;
  double node_rendezvous = -1;
  // What an exchange of this library takes of a processor besides its messages and copies.
  double start = 0;
  // Ranks that take turns on one core, and what each turn costs besides the rank's own work.
  std::size_t ranks_per_core = 1;
  double core_switch = 1.0e-6;
};

// What matters for the cost of moving a plan's messages.
struct ChannelCost {
  bool typed = false;       // derived datatypes: no copies, but datatype pieces; else packed
  std::size_t segment = 0;  // messages are cut into pieces of this many bytes; 0: never
  bool direct = true;       // packed: a message that is one contiguous piece is not copied
};

}  // namespace tonari
