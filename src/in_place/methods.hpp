// SPDX-License-Identifier: BSD-3-Clause
// Makes in-place all-to-all exchanges between all ranks of a communicator.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "channels/p2p/swap.hpp"
#include "channels/shared/link.hpp"
#include "channels/swap.hpp"
#include "engine/comm/context.hpp"
#include "engine/wait/exchange.hpp"
#include "planners/in_place/order.hpp"
#include "planners/in_place/plan.hpp"

namespace tonari {

// The largest part of a message for which rings of so many cells for these messages, in both
// directions, take at most `memory` bytes; 0: none does. Each ring is counted with the page that it
// shares with the next one.
Bytes ring_part(std::span<const Bytes> messages, std::uint32_t cells, Bytes memory);

struct SwapSettings {
  bool shared = true;        // between ranks of a node
  bool single_copy = false;  // there long blocks are read and written where they lie; they must be
                             // contiguous on all ranks
  Bytes memory = 1 << 20;    // temporary, of this rank
  Bytes least_memory = 0;    // of all ranks
  Bytes largest_block = 0;   // of all ranks
  double timeout = 10;
};

// Makes symmetric exchanges: block j, of the same size as rank j's block for this rank, is swapped
// with it. What takes memory or other ranks to set up does not depend on the order of swaps, so
// exchanges in several orders share it, and only one of them may run at a time.
class Swapper {
 public:
  // Collective; settings the same on all ranks but for memory and timeout. Its exchanges send with
  // the context's first tag.
  Swapper(Context& context, const std::vector<SwapBlock>& blocks, const SwapSettings& settings);

  // Local. blocks: those, or others of the same sizes and shapes.
  std::unique_ptr<Exchange> make(SwapOrder order, const std::vector<SwapBlock>& blocks) const;

  // Whether swaps of ranks of a node go through shared memory, and whether long ones are single
  // copies; the same on all ranks.
  bool through_memory() const { return settings_.shared && refusal_.empty(); }
  bool copies_once() const { return settings_.single_copy && through_memory(); }
  const char* channel() const { return channel_; }  // of this rank; both with a plus
  Bytes chunk() const { return chunk_; }            // of swaps by MPI
  // why nothing goes through shared memory, if it was to
  const std::string& refusal() const { return refusal_; }

 private:
  bool shares(std::int32_t peer) const;
  bool swaps(const SwapBlock& block) const;
  bool copies_once(Bytes bytes) const;
  void connect(const std::vector<SwapBlock>& blocks);
  void agree_on_rings(SharedLimits& limits, bool abstains) const;
  std::size_t parts(const SwapBlock& block) const;
  std::size_t chunks(const SwapBlock& block) const;
  void make_pool();
  std::unique_ptr<Swap> p2p_swap(const SwapBlock& block) const;
  std::unique_ptr<Swap> shared_swap(const SwapBlock& block) const;
  std::unique_ptr<Swap> single_copy_swap(const SwapBlock& block, std::size_t k) const;

  Context& context_;
  SwapSettings settings_;
  std::span<const std::int32_t> node_of_;
  Bytes memory_, least_, chunk_ = 0, pool_bytes_ = 0;
  // ranks of the node that this one swaps with, in the order of the link's edges
  std::vector<std::int32_t> neighbors_;
  std::shared_ptr<SharedLink> link_;
  Bytes single_copy_ = 0;                  // bytes of a chunk
  std::shared_ptr<Memory> single_copies_;  // one, for one swap at a time
  std::shared_ptr<ChunkPool> pool_;
  std::vector<SwapNeed> needs_;
  const char* channel_ = "";
  std::string refusal_;
};

// Sizes that pairs of ranks should agree on: what this rank gives, and what it expects of each.
// Collective; exchanges in flight go on meanwhile. Throws Errc::mismatch on all ranks, naming a
// pair.
void compare_pairs(Context& context, const std::vector<Bytes>& given,
                   const std::vector<Bytes>& expected);

// Collective: each word becomes the least of all ranks. Exchanges in flight go on meanwhile.
void least_of_all(MPI_Comm comm, std::span<std::int64_t> words);

}  // namespace tonari
