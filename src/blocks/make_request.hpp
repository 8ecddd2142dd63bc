// SPDX-License-Identifier: BSD-3-Clause
// Builds exchanges of block-structured grids on which ranks have agreed.
#pragma once

#include <memory>

#include "blocks/read_call.hpp"
#include "neighborhood/request.hpp"

namespace tonari {

// Collective. start: the time of the call.
std::shared_ptr<Prepared> build_blocks(SharedBlocks& blocks, const BlocksRequest& request,
                                       double start, MPI_Info info, Use use,
                                       const Settings& settings);

}  // namespace tonari
