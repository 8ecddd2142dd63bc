// Halo exchanges as exchanges on a neighborhood: blocks of the grid's memory, moved by whatever
// tonari's selection finds best.
#pragma once

#include <mpi.h>

#include <memory>

#include "api/prepared.hpp"
#include "grid/halo_program.hpp"

namespace tonari {

// Collective. The views that its blocks lie in are added to `views` and must outlive it.
std::shared_ptr<Prepared> plan_halo(const HaloGrid& grid, const HaloRequest& request, MPI_Info info,
                                    std::vector<View>& views);

}  // namespace tonari
