// SPDX-License-Identifier: BSD-3-Clause
// Prices plans under LogGP.
#pragma once

#include <span>

#include "cost/effort.hpp"
#include "cost/links.hpp"

namespace tonari {

// Seconds until the last rank is done if all start at 0, each with one processor for sends,
// receives and copies. `plans` holds the plans of ranks 0, 1, 2, ..., or a single one that stands
// for all. In the latter case, the message received with a tag arrives when the one sent with that
// tag does. Where it sends none (at a mesh's border), the peer sends as soon as the receive may
// start.
//
//   send      o per segment, copies (packed) or pieces (typed); then its interface is busy for
//             (k-1) G + g per segment of k bytes
//   receive   L after the last byte has left: o per segment, copies or pieces; blocks that are only
//             passed on are not unpacked
//   long      a message (segment) beyond eager starts when its receive may start, plus rendezvous
//   exchange  starts when both partners may: a copy of the bytes to a temporary, then a send and a
//             receive of them
//   contiguous pieces: blocks of ascending numbers of one buffer. Empty messages are not sent.
//
// As with any processor that takes what is ready, a larger block can by chance lead to a luckier
// order: on the usual patterns prices rise with the block size except for dents of a few percent.
// Messages on a node and those between nodes have links of their own, and do not wait for each
// other's interface. Deterministic; O((operations + slices) log). Throws Errc::internal if plans do
// not match.
double simulate_by_distance(std::span<const Plan> plans, const BlockBytes& bytes,
                            const LinkCosts& links);
double simulate(std::span<const Plan> plans, const BlockBytes& bytes, const LogGP& machine,
                ChannelCost channel = {});
// The same where each plan has blocks of its own sizes. bytes: one per plan.
double simulate_by_distance(std::span<const Plan> plans, std::span<const BlockBytes> bytes,
                            const LinkCosts& links);
double simulate(std::span<const Plan> plans, std::span<const BlockBytes> bytes,
                const LogGP& machine, ChannelCost channel = {});

}  // namespace tonari
