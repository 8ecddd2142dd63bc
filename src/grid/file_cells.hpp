// SPDX-License-Identifier: BSD-3-Clause
// The cells of one field of a grid in a file of the whole grid: each rank writes and reads its own,
// from the byte on at which they begin.
#pragma once

#include "grid/halo_grid.hpp"
#include "grid/mpi_file.hpp"

namespace tonari {

// Collective. Throw Errc::file and Errc::memory, the same on all ranks.
void write_cells(const HaloGrid& grid, int copy, int field, const MpiFile& file, std::size_t begin);
void read_cells(HaloGrid& grid, int copy, int field, const MpiFile& file, std::size_t begin);

}  // namespace tonari
