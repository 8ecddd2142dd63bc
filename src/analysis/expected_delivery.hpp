// SPDX-License-Identifier: BSD-3-Clause
// The delivery of collectives on a neighborhood or a graph, for the reference executor.
#pragma once

#include <functional>
#include <span>

#include "analysis/executor.hpp"
#include "planners/graphs/relay.hpp"
#include "topology/neighborhood.hpp"

namespace tonari {

// `bytes` has the size of block i, the same on all ranks (allgather: one entry for every block).
Delivery expected_delivery(const Neighborhood& near, Collective collective,
                           std::span<const std::uint64_t> bytes);

// `vertices` belong to ranks 0, 1, 2, ...; `bytes` is the size of a block.
Delivery expected_delivery(std::span<const Vertex> vertices, Collective collective,
                           const std::function<std::uint64_t(BlockId)>& bytes);

}  // namespace tonari
