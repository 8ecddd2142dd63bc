// SPDX-License-Identifier: BSD-3-Clause
// The one place that prices variants: what an exchange costs that runs one. Pure.
#pragma once

#include <vector>

#include "base/checked.hpp"
#include "cost/loggp.hpp"
#include "plan/variant.hpp"

namespace tonari {

// The lengths of the blocks of an exchange, as far as all ranks know them.
struct Sizes {
  // of each block, where all ranks have the same blocks (allgather, graphs: one entry, of all);
  // empty if they differ between ranks
  std::vector<Bytes> bytes;
  double average = 0;  // bytes per block
};

// Seconds. Variants by offsets are simulated, unless they have very many hops. No rank knows all
// plans of a variant by graphs, so its traffic is priced.
double price(const Variant& variant, const Sizes& sizes, const LogGP& machine, ChannelCost channel);

}  // namespace tonari
