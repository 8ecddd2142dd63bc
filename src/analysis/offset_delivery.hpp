// SPDX-License-Identifier: BSD-3-Clause
// The delivery of collectives on a neighborhood, for the reference executor.
#pragma once

#include "analysis/executor.hpp"
#include "topology/neighborhood.hpp"

namespace tonari {

// `bytes` has the size of block i, the same on all ranks (allgather: one entry for every block).
Delivery expected_delivery(const Neighborhood& near, Collective collective,
                           std::span<const std::uint64_t> bytes);

}  // namespace tonari
