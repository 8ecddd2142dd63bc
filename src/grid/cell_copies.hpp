// SPDX-License-Identifier: BSD-3-Clause
// Copies between cells of a grid and an array of just these cells in memory of the host.
#pragma once

#include <cstddef>

#include "grid/halo_grid.hpp"

namespace tonari {

// Local: they return when it is done. The cells of `box` (within the ghosts) are in the grid's
// order. Throw Errc::memory and Errc::argument where the cells lie on a device.
void write_box(const HaloGrid& grid, int subdomain, int copy, int field, const CellBox& box,
               const std::byte* from);
void read_box(const HaloGrid& grid, int subdomain, int copy, int field, const CellBox& box,
              std::byte* to);

}  // namespace tonari
