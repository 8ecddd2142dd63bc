// SPDX-License-Identifier: BSD-3-Clause
// Prices plans under LogGP.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "cost/loggp.hpp"
#include "plan/plan.hpp"
#include "planners/offsets/offset_planner.hpp"

namespace tonari {

// What matters for the cost of moving a plan's messages.
struct ChannelCost {
  bool typed = false;       // derived datatypes: no copies, but datatype pieces; else packed
  std::size_t segment = 0;  // messages are cut into pieces of this many bytes; 0: never
  bool direct = true;       // packed: a message that is one contiguous piece is not copied
};

// bytes(slice) is the size of a block.
using BlockBytes = std::function<std::uint64_t(Slice)>;

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
// Deterministic; O((operations + slices) log). Throws Errc::internal if plans do not match.
double simulate(std::span<const Plan> plans, const BlockBytes& bytes, const LogGP& machine,
                ChannelCost channel = {});
// The same where each plan has blocks of its own sizes. bytes: one per plan.
double simulate(std::span<const Plan> plans, std::span<const BlockBytes> bytes,
                const LogGP& machine, ChannelCost channel = {});

// A first guess from rounds, hops and volume alone, without making the plan, to sort many
// candidates. It is within a factor of 3 of simulate on usual patterns. `block_bytes` is the
// average size of a block.
double estimate(const OffsetVariant& variant, double block_bytes, const LogGP& machine,
                ChannelCost channel = {});

// The block size in bytes from which `plan` is no longer predicted to be faster than `reference`
// (usually linear). Messages are packed, and all blocks have one size. 0 means never faster, -1
// always faster (up to 1 GiB). Of several crossovers (around the eager size) it finds one of the
// first, by looking at powers of two and then between. Both plans are one interior rank's, of the
// same collective.
std::int64_t crossover_bytes(const Plan& plan, const Plan& reference, const LogGP& machine);
// The same for plans of all ranks, or of one each that stands for all, as in simulate.
std::int64_t crossover_bytes(std::span<const Plan> plans, std::span<const Plan> reference,
                             const LogGP& machine);

}  // namespace tonari
