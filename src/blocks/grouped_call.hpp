// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of blocks in a group.
#pragma once

#include <memory>

#include "blocks/read_call.hpp"
#include "neighborhood/group.hpp"

namespace tonari {

// Local: reads an exchange for a group.
std::unique_ptr<GroupedCall> group_blocks(SharedBlocks& blocks, const BlocksCall& call);

}  // namespace tonari
