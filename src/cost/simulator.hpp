// Prices plans under LogGP. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "cost/loggp.hpp"
#include "plan/plan.hpp"
#include "planners/algorithm.hpp"

namespace tonari {

// How a plan's messages will be moved, as far as it costs.
struct ChannelCost {
  bool typed = false;             // derived datatypes: no copies, but datatype pieces; else packed
  std::size_t segment = 0;        // messages are cut into pieces of so many bytes; 0: never
  bool direct = true;             // packed: a message that is one contiguous piece is not copied
};

// bytes(slice): size of a block.
using BlockBytes = std::function<std::uint64_t(Slice)>;

// Seconds until the last rank is done, all starting at 0, each with one CPU (sends, receives and copies take turns). `plans` holds either all ranks' plans
// or a single one, which then stands for all: its messages with a tag arrive as its own with that tag leave.
double simulate(std::span<const Plan> plans, const BlockBytes& bytes, const LogGP& machine, ChannelCost channel = {});

// A first guess from rounds and volume alone, without making the plan: to sort many candidates.
// block_bytes: average size of a block.
double estimate(const Schedule& schedule, double block_bytes, const LogGP& machine, ChannelCost channel = {});

// The block size in bytes from which `schedule` is predicted to be slower than `reference` (usually linear); 0: never faster; -1: always faster (up to 1 GiB).
// plans: one interior rank's plan of each.
std::int64_t crossover_bytes(const Plan& plan, const Plan& reference, Collective collective, const LogGP& machine);

}  // namespace tonari
