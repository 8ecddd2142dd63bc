// SPDX-License-Identifier: BSD-3-Clause
// A rank's plan as text for the terminal: peers are named by the way to them, (+1,0,-1), not by
// number.
#pragma once

#include <string>

#include "analysis.hpp"

namespace tonari {

// most_blocks: runs of blocks named per message before "...".
std::string draw(const Question& question, const OffsetVariant& planned, std::size_t most_blocks);

}  // namespace tonari
