// SPDX-License-Identifier: BSD-3-Clause
// A call for a halo exchange, as the program made it, and what it asks for.
#pragma once

#include <mpi.h>

#include <array>

#include "cells/direction.hpp"
#include "grid/halo_program.hpp"
#include "request/agree_on_arguments.hpp"

namespace tonari {

struct HaloCall {
  Direction direction;
  int copy;
  const tonari_ghosts* ghosts;  // null: all
  MPI_Op op;                    // reverse
};

// Throws Errc::argument if the grid has no such exchange.
HaloRequest read_request(const HaloGrid& grid, const HaloCall& call);
// What ranks must say alike of it.
std::array<Alike, 4> alike(const HaloGrid& grid, const HaloCall& call, const HaloRequest& request);

}  // namespace tonari
