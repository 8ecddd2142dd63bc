// SPDX-License-Identifier: BSD-3-Clause
// Halo exchanges as exchanges on a neighborhood: blocks of the grid's memory, moved by whatever
// tonari's selection finds best.
#pragma once

#include <mpi.h>

#include <memory>

#include "grid/halo_program.hpp"
#include "neighborhood/group.hpp"
#include "neighborhood/request.hpp"
#include "packing/launched_copies.hpp"

namespace tonari {

// Messages of this rank to itself that its device copies, or that mapped ghosts spare.
struct OwnMessages {
  std::shared_ptr<LaunchedCopies> copies = {};  // null: the exchange has none of them
  std::size_t count = 0;
};
// Takes them out of `ends`. Local. Throws as the device does.
OwnMessages take_own(const HaloGrid& grid, const HaloRequest& request, HaloEnds& ends);

// What must outlive an exchange.
struct HaloMemory {
  Views views = {};                  // that its blocks lie in
  Contributions contributions = {};  // that it brings, if it is a reverse one
};

// Collective. contenders: that starts choose from at most.
std::shared_ptr<Prepared> plan_halo(const HaloGrid& grid, const HaloRequest& request, Use use,
                                    MPI_Info info, std::size_t contenders, HaloMemory& memory);

// Adds where an end's bytes arrive in a reverse exchange; a missing end is an empty block. Throws
// Errc::overflow.
void add_arrival(const Arrivals& arrivals, const HaloEnd* end, AbsoluteBlocks& blocks);
// Adds an end's bytes as a block; a missing end is an empty one.
void add_block(const HaloGrid& grid, const HaloRequest& request, const HaloEnd* end, bool send,
               AbsoluteBlocks& blocks, Views& views);

}  // namespace tonari
