// Prices plans under LogGP. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "cost/loggp.hpp"
#include "plan/plan.hpp"
#include "planners/offsets/offset_planner.hpp"

namespace tonari {

// How a plan's messages will be moved, as far as it costs.
struct ChannelCost {
  bool typed = false;       // derived datatypes: no copies, but datatype pieces; else packed
  std::size_t segment = 0;  // messages are cut into pieces of this many bytes; 0: never
  bool direct = true;       // packed: a message that is one contiguous piece is not copied
};

// bytes(slice): size of a block.
using BlockBytes = std::function<std::uint64_t(Slice)>;

// Seconds until the last rank is done, all starting at 0, each with one processor (sends, receives
// and copies take turns, in the order in which they become ready). `plans` holds either the plans
// of ranks 0, 1, 2, ... or a single one, which then stands for all: the message it receives with a
// tag arrives when the one that it sends with that tag does. Where it sends none (at the border of
// a mesh) the peer is taken to send as soon as the receive may start.
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

// A first guess from rounds, hops and volume alone, without making the plan: to sort many
// candidates. Within a factor of 3 of simulate on the usual patterns. block_bytes: average size of
// a block.
double estimate(const OffsetVariant& variant, double block_bytes, const LogGP& machine,
                ChannelCost channel = {});

// The block size in bytes from which `plan` is predicted to be no longer faster than `reference`
// (usually linear), packed and all blocks of one size; 0: never faster; -1: always faster (up to 1
// GiB). Assumes that it stays so from there on: of several crossovers (around the eager size) it
// finds one of the first, looking at powers of two and then between. plan, reference: one interior
// rank's plans of the same collective.
std::int64_t crossover_bytes(const Plan& plan, const Plan& reference, const LogGP& machine);
// The same of plans of all ranks, or of one each that stands for all, as in simulate.
std::int64_t crossover_bytes(std::span<const Plan> plans, std::span<const Plan> reference,
                             const LogGP& machine);

}  // namespace tonari
