// SPDX-License-Identifier: BSD-3-Clause
// One rank reads the arguments of a call, and checks what one rank can check.
#pragma once

#include <string>

#include "engine/comm/context.hpp"
#include "neighborhood/call.hpp"
#include "neighborhood/size_print.hpp"
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

// Makes blocks empty that no edge leads to or from, because the library must not touch the memory
// that a program gives for them. The arguments are bound.
void leave_out_missing(const Vertex& vertex, Arguments& arguments);

// Reads a call, and checks all but overlaps: whether addresses can be right, and whether blocks
// have promised sizes. Local.
void read_blocks(Context& context, const Call& call, ReadCall& mine);
// For calls whose blocks the host must be able to read. Local.
inline void require_on_host(const GpuSides& sides) {
  if (sides.any()) refuse_gpu_memory(sides.send.empty() ? sides.recv : sides.send);
}
// Reads a call and checks overlaps. Local.
ReadCall read_call(Context& context, const Call& call);

}  // namespace tonari
