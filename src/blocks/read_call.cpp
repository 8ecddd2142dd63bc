// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/read_call.hpp"

#include "cells/read_ghosts.hpp"
#include "request/buffer.hpp"

namespace tonari {

BlocksRequest read_request(const SharedBlocks& blocks, const BlocksCall& call) {
  BlocksRequest request{call.direction == Direction::reverse};
  request.reach = read_ghosts(
      call.ghosts, GridBox{blocks.blocks().dims, {}, blocks.blocks().lower, blocks.blocks().upper});
  if (request.reverse) {
    require_number(blocks.shape().cell.number);
    request.reduction = reduction_of(blocks.shape().cell.number, call.op);
  }
  if (blocks.arrays() > 0) require(call.arrays, "arrays");
  look_for_gpu_drivers();
  for (std::size_t i = 0; i < blocks.arrays(); ++i) {
    if (!call.arrays[i])
      fail(Errc::argument, "array ", i, " of ", blocks.arrays(), " (own blocks x fields) is NULL");
    if (on_gpu(call.arrays[i])) refuse_gpu_memory(text("array ", i));
    request.arrays.push_back(static_cast<std::byte*>(call.arrays[i]));
  }
  return request;
}

std::array<Alike, 3> alike(const SharedBlocks& blocks, const BlocksRequest& request) {
  return {Alike{request.reverse, different_directions},
          alike_ghosts(request.reach, blocks.blocks().dims),
          Alike{static_cast<std::uint64_t>(request.reduction.number),
                "ranks gave different operations; they must be the same on all ranks"}};
}

}  // namespace tonari
