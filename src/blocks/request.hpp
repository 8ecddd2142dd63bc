// Prepares exchanges of block-structured grids for calls.
#pragma once

#include <mpi.h>

#include <memory>

#include "api/direction.hpp"
#include "blocks/shared_blocks.hpp"

namespace tonari {

struct BlocksCall {
  Direction direction;
  void* const* arrays;
  const tonari_ghosts* ghosts;  // null: all
  MPI_Op op;                    // reverse
};

// Collective: makes a persistent exchange. `output` is for the request.
std::shared_ptr<Prepared> prepare_blocks(SharedBlocks& blocks, const BlocksCall& call,
                                         MPI_Info info, Output output);

// Collective: runs one to its end.
void run_blocks(SharedBlocks& blocks, const BlocksCall& call);

}  // namespace tonari
