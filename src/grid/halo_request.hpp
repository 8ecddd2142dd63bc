// Prepares halo exchanges for calls: reads keys, then builds the requested or the fastest exchange.
#pragma once

#include <mpi.h>

#include <memory>

#include "api/agree_on_arguments.hpp"
#include "api/prepared.hpp"
#include "grid/halo_grid.hpp"

namespace tonari {

// Collective. `output` is for the request, which counts in grid->requests while it lives.
std::shared_ptr<Prepared> prepare_halo(const std::shared_ptr<HaloGrid>& grid, int copy,
                                       MPI_Info info, Output output);

}  // namespace tonari
