// SPDX-License-Identifier: BSD-3-Clause
// An in-place all-to-all exchange as a plan: one swap per partner, as many at a time as memory
// allows (Hofmann 2013, section 3.4).
#pragma once

#include <cstdint>
#include <span>

#include "plan/plan.hpp"

namespace tonari {

// The needs of the swap with one rank.
struct SwapNeed {
  std::uint64_t bytes = 0;  // of the block; 0: there is no swap
  // temporary memory with which it runs at full speed; 0: none, for channels with memory of their
  // own
  std::uint64_t memory = 0;
};

// What a swap gets of `memory`, the temporary memory of its rank: what it wants, or all. Of no
// memory at all one byte, since less moves nothing.
std::uint64_t granted(const SwapNeed& need, std::uint64_t memory);

// The swaps of `rank` in the order of `partners` (order.hpp): exchanges of receive block j with
// rank j's block `rank`, tag 0, one for each needs[j] with bytes; none with itself. A swap waits
// for earlier ones exactly as far as memory demands: together, those that can run at the same time
// have been granted at most `memory` (at least a byte), in every order of events. Each rank decides
// by itself; neither memory nor needs[j].memory have to agree between ranks.
//
// O(p): the bytes are handed on from swap to swap in the order in which they were handed out, as in
// a ring, so a swap waits for the owners of its bytes and there are less than 3 p dependencies.
// Unlike the paper's buffer, which is filled once and then left to its swaps, memory serves again.
//
// It ends, whatever the budgets: a swap waits for swaps of its own rank that come before it in the
// order of all swaps (order.hpp), and for its partner to come to it. Both partners of the first
// swap that is not complete wait for nothing else, so it can complete.
Plan plan_inplace(std::int32_t rank, std::span<const std::int32_t> partners,
                  std::span<const SwapNeed> needs, std::uint64_t memory);

}  // namespace tonari
