// SPDX-License-Identifier: BSD-3-Clause
// The one place that prices variants: what an exchange costs that runs one. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "cost/links.hpp"
#include "plan/variant.hpp"
#include "select/edge_sizes.hpp"
#include "topology/neighborhood.hpp"

namespace tonari {

// The lengths of the blocks of an exchange, as far as all ranks know them.
struct Sizes {
  // of each block, where all ranks have the same blocks (allgather, graphs: one entry, of all);
  // empty if they differ between ranks
  std::vector<Bytes> bytes;
  // Bytes per block. Where sizes differ: of the rank that moves most, if it had as many blocks as
  // the one that has most of them.
  double average = 0;
  // Set where they differ between ranks: then prices are those of this rank's edges.
  std::shared_ptr<const EdgeSizes> edges = nullptr;
};

// The part of its blocks that a rank in the middle of the grid sends to others of its node, by the
// node of each rank. 0 where none are given.
double share_on_node(const Neighborhood& near, std::span<const std::int32_t> node_of);

// Seconds. Variants by offsets are simulated, unless they have very many hops. No rank knows all
// plans of a variant by graphs, so its traffic is priced. The price is the same on all ranks, but
// where there are edges: then the exchange takes what the rank with the highest price says.
double price(const Variant& variant, const Sizes& sizes, const LinkCosts& links);
double price(const Variant& variant, const Sizes& sizes, const LogGP& machine, ChannelCost channel);

}  // namespace tonari
