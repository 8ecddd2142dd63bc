// Prepares halo exchanges for calls: reads keys, builds what was asked for or what is fastest.
#pragma once

#include <mpi.h>

#include <memory>

#include "api/prepared.hpp"
#include "grid/halo_grid.hpp"

namespace tonari {

// Collective. has_place: whether the program gave a place for the request. The request counts in
// grid->requests while it lives.
std::shared_ptr<Prepared> prepare_halo(const std::shared_ptr<HaloGrid>& grid, int copy,
                                       MPI_Info info, bool has_place);

}  // namespace tonari
