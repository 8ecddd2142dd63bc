// Prepares halo exchanges for calls: reads keys, builds what was asked for or what is fastest.
#pragma once

#include <mpi.h>

#include <memory>

#include "api/agree_on_arguments.hpp"
#include "api/prepared.hpp"
#include "grid/halo_grid.hpp"

namespace tonari {

// Collective. output: for the request, which counts in grid->requests while it lives.
std::shared_ptr<Prepared> prepare_halo(const std::shared_ptr<HaloGrid>& grid, int copy,
                                       MPI_Info info, Output output);

}  // namespace tonari
