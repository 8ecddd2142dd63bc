// SPDX-License-Identifier: BSD-3-Clause
// What ranks agree on before they exchange between blocks, or take an exchange they have kept.
#pragma once

#include <mpi.h>

#include <memory>

#include "blocks/read_call.hpp"
#include "request/kept.hpp"
#include "request/settings.hpp"

namespace tonari {

// What a call asks for, its number with this rank's arrays, and the exchange that all ranks have
// kept for it, if any.
struct AgreedBlocks {
  BlocksRequest request = {};
  Settings settings = {};
  CallNumber number = {};
  std::shared_ptr<Prepared> kept = {};
};

// Collective: if it is right and the same everywhere.
AgreedBlocks agree_on_blocks(SharedBlocks& blocks, const BlocksCall& call, MPI_Info info,
                             Output output);

}  // namespace tonari
