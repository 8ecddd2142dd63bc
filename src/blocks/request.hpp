// SPDX-License-Identifier: BSD-3-Clause
// Prepares exchanges of block-structured grids for calls.
#pragma once

#include <mpi.h>

#include <memory>

#include "blocks/read_call.hpp"
#include "neighborhood/group.hpp"

namespace tonari {

// Collective: makes a persistent exchange. `output` is for the request.
std::shared_ptr<Prepared> prepare_blocks(SharedBlocks& blocks, const BlocksCall& call,
                                         MPI_Info info, Output output);

// Collective: runs one to its end.
void run_blocks(SharedBlocks& blocks, const BlocksCall& call);

// Local: reads an exchange for a group.
std::unique_ptr<GroupedCall> group_blocks(SharedBlocks& blocks, const BlocksCall& call);

}  // namespace tonari
