// SPDX-License-Identifier: BSD-3-Clause
// An in-place all-to-all exchange as a schedule (Hofmann and Rünger 2013, sections 3.1 to 3.4).
#pragma once

#include "cost/loggp.hpp"
#include "planners/in_place/order.hpp"
#include "simulate/schedule.hpp"

namespace tonari::sim {

// Every rank swaps a block of `block_bytes` with each other one, in this order. What leaves is
// copied out of the way first, which takes what copies take on `machine`. A block up to its eager
// limit is sent at once, as the MPI has room for it. A longer one is sent when the other rank has
// said that its place is free:
//
//   calc (copy) ─┬─────────────── send      calc (copy) ─┬─ send (ready)
//                └─────────────── recv                   ├─ recv (ready) ─ send
//                                                        └──────────────── recv
//
// memory: bytes of a rank for such copies. As many swaps as fit run at a time, at least one. Swaps
// begin one after the other, as in a loop over the partners. A rank has no swap with itself.
// O(ranks^2) steps. Throws Errc::argument without ranks or bytes.
Schedule swap_schedule(SwapOrder order, std::uint32_t ranks, std::uint64_t block_bytes,
                       std::uint64_t memory, const LogGP& machine);

}  // namespace tonari::sim
