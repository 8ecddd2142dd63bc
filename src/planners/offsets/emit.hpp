// From a routing to one rank's plan.
#pragma once

#include "plan/plan.hpp"
#include "planners/offsets/routing.hpp"
#include "planners/offsets/tree.hpp"

namespace tonari {

// Where forwarded blocks wait.
enum class Storage : std::uint8_t {
  // all-to-all: in turns in the receive buffer and one scratch block, as Algorithm 1 does: s
  // scratch blocks at most
  alternate,
  // a scratch block for every hop: more memory, but no message waits for an earlier one to leave
  separate,
};

struct EmitOptions {
  Storage storage = Storage::separate;
  int ports = 0;  // at most so many messages in and out at a time; 0: no limit
};

// Pure and local: needs no other rank. O(hops) time and memory.
Plan emit_alltoall(const Routing& routing, int rank, EmitOptions options);
Plan emit_allgather(const Routing& routing, const Tree& tree, int rank, EmitOptions options);

}  // namespace tonari
