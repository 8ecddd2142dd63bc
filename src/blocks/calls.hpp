// SPDX-License-Identifier: BSD-3-Clause
// The call that makes blocks, for other languages.
#pragma once

#include <optional>

#include "base/error.hpp"
#include "tonari/blocks.h"

namespace tonari {

// tonari_blocks_create where this rank may know of a mistake already; all ranks hear of it.
int create_blocks(MPI_Comm comm, const tonari_blocks_shape* shape, MPI_Info info,
                  tonari_blocks* blocks, const std::optional<Error>& mistake);

}  // namespace tonari
