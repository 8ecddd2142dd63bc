// SPDX-License-Identifier: BSD-3-Clause
// One rank reads the arguments of a call, and checks what one rank can check.
#pragma once

#include <string>

#include "neighborhood/call.hpp"
#include "neighborhood/sizes.hpp"
#include "request/buffer.hpp"

namespace tonari {

inline constexpr char other_collective[] =
    "some ranks call an all-to-all where others call an allgather";

// Sides that lie in memory of a GPU, as sentences name them: `sendbuf`, or a block. Empty: the host
// reads that side.
struct GpuSides {
  std::string send, recv;
  bool any() const { return !send.empty() || !recv.empty(); }
};

struct ReadCall {
  Arguments arguments;  // bound
  SizePrint sizes;
  GpuSides on_gpu;
};

// Of the program's numbers, that of block i. An allgather has one block to send.
std::size_t block_number(const LocalTopology& topology, Collective collective, Buffer side,
                         std::size_t i);

// Reads a call, and checks all but overlaps: whether addresses can be right, and whether blocks
// have promised sizes. Local.
void read_blocks(Context& context, const Call& call, ReadCall& mine);
// Throws Errc::buffers if a receive block shares a byte with another block. Local.
void check_overlaps(const LocalTopology& topology, Collective collective, const Binding& binding);
// For calls whose blocks the host must be able to read. Local.
inline void require_on_host(const GpuSides& sides) {
  if (sides.any()) refuse_gpu_memory(sides.send.empty() ? sides.recv : sides.send);
}
// Reads a call and checks overlaps. Local.
ReadCall read_call(Context& context, const Call& call);

}  // namespace tonari
