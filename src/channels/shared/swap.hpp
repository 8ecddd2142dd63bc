// SPDX-License-Identifier: BSD-3-Clause
// Swaps through shared memory: two streams of chunks between the segments of two ranks of a node
// (channels/shared/link.hpp). Their cells are all the temporary memory.
#pragma once

#include <memory>

#include "channels/shared/link.hpp"
#include "channels/swap.hpp"

namespace tonari {

// `out` and `in` belong to a link with SharedLimits::ring, for messages of block.bytes; `link`
// holds them.
std::unique_ptr<Swap> make_shared_swap(const SwapBlock& block, std::shared_ptr<SharedLink> link,
                                       OutEdge& out, InEdge& in);

}  // namespace tonari
