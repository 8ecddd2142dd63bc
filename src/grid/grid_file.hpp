// SPDX-License-Identifier: BSD-3-Clause
// A field of the whole grid as a NumPy .npy file, of which each rank writes and reads its own cells
// through MPI-IO (numpy/lib/format.py of NumPy says what such files are).
#pragma once

#include <string>

#include "grid/halo_grid.hpp"

namespace tonari {

// Collective; arguments are the same on all ranks. Throw Errc::file, Errc::argument, Errc::mpi, the
// same on all ranks.
void save_npy(const HaloGrid& grid, int copy, int field, const std::string& filename);
void load_npy(HaloGrid& grid, int copy, int field, const std::string& filename);

}  // namespace tonari
