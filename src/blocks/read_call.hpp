// SPDX-License-Identifier: BSD-3-Clause
// What a call on block-structured grids asks for, and what ranks must say alike of it.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "blocks/shared_blocks.hpp"
#include "cells/combine.hpp"
#include "cells/direction.hpp"

namespace tonari {

struct BlocksCall {
  Direction direction;
  void* const* arrays;
  const tonari_ghosts* ghosts;  // null: all
  MPI_Op op;                    // reverse
};

// What a call asks for, read.
struct BlocksRequest {
  bool reverse = false;
  Reach reach = {};
  Reduction reduction = {};
  std::vector<std::byte*> arrays = {};
};
// Throws Errc::argument.
BlocksRequest read_request(const SharedBlocks& blocks, const BlocksCall& call);
// What ranks must say alike of it.
std::array<Alike, 3> alike(const SharedBlocks& blocks, const BlocksRequest& request);

}  // namespace tonari
