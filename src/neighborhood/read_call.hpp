// SPDX-License-Identifier: BSD-3-Clause
// One rank reads the arguments of a call, and checks what one rank can check.
#pragma once

#include "neighborhood/call.hpp"
#include "neighborhood/sizes.hpp"

namespace tonari {

inline constexpr char other_collective[] =
    "some ranks call an all-to-all where others call an allgather";

struct ReadCall {
  Arguments arguments;  // bound
  SizePrint sizes;
};

// Reads a call, and checks all but overlaps: whether addresses can be right, and whether blocks
// have promised sizes. Local.
void read_blocks(Context& context, const Call& call, ReadCall& mine);
// Throws Errc::buffers if a receive block shares a byte with another block. Local.
void check_overlaps(const LocalTopology& topology, Collective collective, const Binding& binding);
// Both. Local.
ReadCall read_call(Context& context, const Call& call);

}  // namespace tonari
