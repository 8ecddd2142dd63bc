// SPDX-License-Identifier: BSD-3-Clause
// What an exchange of blocks sends and receives: cells of arrays, as blocks of a call between
// neighbors.
#pragma once

#include <vector>

#include "blocks/read_call.hpp"
#include "cells/contributions.hpp"
#include "neighborhood/group.hpp"

namespace tonari {

// What lies in an array of the program, by its number: a start may replace each.
inline SpaceId space_of_array(std::size_t number) { return static_cast<SpaceId>(number) + 1; }

// How a message becomes blocks: one for all of its cells, or one for each array that it has cells
// of, so that a start may bring other arrays.
enum class Pieces { joined, by_array };

struct BlocksSides {
  GroupSide send = {}, receive = {};
  Contributions contributions = {};  // of a reverse exchange: what arrives
  TouchedBytes touched = {};         // what this rank has for itself included
};

// The list of peers has a rank once for each block. Throws Errc::buffers (arrays that overlap),
// Errc::overflow, Errc::memory, Errc::mpi.
BlocksSides sides_of(const SharedBlocks& blocks, const BlocksRequest& request, Pieces pieces);

}  // namespace tonari
