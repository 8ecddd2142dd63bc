// SPDX-License-Identifier: BSD-3-Clause
// Swaps between two ranks of a node that may read and write each other's memory. Each rank swaps
// one half of the block, chunk by chunk: its own bytes to temporary memory, the other's bytes into
// their place, its own bytes into the other's memory. So two bytes change places by three copies,
// not by four as through cells (swap.hpp), and no rank waits for another between start and end.
#pragma once

#include <memory>

#include "channels/node.hpp"
#include "channels/shared/link.hpp"
#include "channels/swap.hpp"
#include "memory/memory.hpp"

namespace tonari {

// What a rank tells its partner: where its block lies. The partner takes it when it has swapped its
// half, and says meanwhile when it touches the block: a rank that gives up waits until it does not.
struct SwapAddress {
  std::uint64_t address = 0;
  std::uint64_t touched = 0;  // atomic
};

struct SingleCopyEnds {
  std::shared_ptr<const Node> node;
  std::shared_ptr<SharedLink> link;  // with SharedLimits::ring; holds the edges
  OutEdge* out = nullptr;            // for messages of sizeof(SwapAddress)
  InEdge* in = nullptr;
  bool first_half = true;  // this rank swaps; the other rank does the second
};

// block: contiguous. chunk: temporary memory, which one swap at a time uses, while it advances.
std::unique_ptr<Swap> make_single_copy_swap(const SwapBlock& block, SingleCopyEnds ends,
                                            std::shared_ptr<Memory> chunk);

}  // namespace tonari
