// Makes in-place all-to-all exchanges between all ranks of a communicator.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "channels/swap.hpp"
#include "engine/context.hpp"
#include "engine/exchange.hpp"
#include "planners/in_place/order.hpp"

namespace tonari {

// The largest part of a message for which rings of so many cells for these messages, in both
// directions, take at most `memory` bytes; 0: none does. Each ring is counted with the page that it
// shares with the next one.
Bytes ring_part(std::span<const Bytes> messages, std::uint32_t cells, Bytes memory);

struct SwapSettings {
  SwapOrder order = SwapOrder::hierarchical_sets;
  bool shared = true;       // between ranks of a node
  Bytes memory = 1 << 20;   // temporary, of this rank
  Bytes least_memory = 0;   // of all ranks
  Bytes largest_block = 0;  // of all ranks
  double timeout = 10;
};

struct InPlace {
  std::unique_ptr<Exchange> exchange;
  std::string channel;  // shared, p2p-packed, or both with a plus
  Bytes chunk = 0;      // of swaps by MPI
  std::string refusal;  // why nothing goes through shared memory, if it was to
};

// Symmetric: block j, of the same size as rank j's block for this rank, is swapped with it.
// Collective; settings the same on all ranks but for memory and timeout. Takes a tag of the
// context.
InPlace make_symmetric(Context& context, const std::vector<SwapBlock>& blocks,
                       const SwapSettings& settings);

// Sizes that pairs of ranks should agree on: what this rank gives, and what it expects of each.
// Collective; exchanges in flight go on meanwhile. Throws Errc::mismatch on all ranks, naming a
// pair.
void compare_pairs(Context& context, const std::vector<Bytes>& given,
                   const std::vector<Bytes>& expected);

// Collective: fills in what is said of all ranks; largest_block holds that of this rank.
void agree_on_limits(MPI_Comm comm, SwapSettings& settings);

}  // namespace tonari
