// What an exchange costs that runs a variant: the one place that prices variants. Pure.
#pragma once

#include <vector>

#include "base/checked.hpp"
#include "cost/simulator.hpp"
#include "plan/variant.hpp"

namespace tonari {

// How long the blocks of an exchange are, as far as all ranks know it.
struct Sizes {
  // of each block, where all ranks have the same blocks (allgather, graphs: one entry, of all);
  // empty if they differ between ranks
  std::vector<Bytes> bytes;
  double average = 0;  // bytes per block
};

// Seconds. Variants by offsets are simulated, unless they have very many hops; of those by graphs
// no rank knows all plans, and their traffic is priced.
double price(const Variant& variant, const Sizes& sizes, const LogGP& machine, ChannelCost channel);

}  // namespace tonari
