// SPDX-License-Identifier: BSD-3-Clause
// Moves cut into moves of about equal size, one for each block of threads of a launch.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "copy/moves.hpp"

namespace tonari {

// The same copies as moves of at most `most` bytes each: a part of one piece, or some whole pieces.
// Parts of a piece begin at multiples of `most` in it. Moves without bytes vanish.
std::vector<Move> cut_into_tiles(std::span<const Move> moves, std::size_t most);

}  // namespace tonari
