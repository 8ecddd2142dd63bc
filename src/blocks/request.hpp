// SPDX-License-Identifier: BSD-3-Clause
// Prepares exchanges of block-structured grids for calls.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "api/combine.hpp"
#include "api/direction.hpp"
#include "api/group.hpp"
#include "blocks/shared_blocks.hpp"

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

// Collective: makes a persistent exchange. `output` is for the request.
std::shared_ptr<Prepared> prepare_blocks(SharedBlocks& blocks, const BlocksCall& call,
                                         MPI_Info info, Output output);

// Local: reads an exchange for a group.
std::unique_ptr<GroupedCall> group_blocks(SharedBlocks& blocks, const BlocksCall& call);

// Collective: runs one to its end.
void run_blocks(SharedBlocks& blocks, const BlocksCall& call);

}  // namespace tonari
