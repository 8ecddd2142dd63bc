// SPDX-License-Identifier: BSD-3-Clause
// Prepares halo exchanges for calls: reads keys, then builds the requested or the fastest exchange.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>

#include "api/agree_on_arguments.hpp"
#include "api/direction.hpp"
#include "api/group.hpp"
#include "api/kept_exchanges.hpp"
#include "api/prepared.hpp"
#include "grid/halo_grid.hpp"
#include "grid/halo_program.hpp"

namespace tonari {

struct HaloCall {
  Direction direction;
  int copy;
  const tonari_ghosts* ghosts;  // null: all
  MPI_Op op;                    // reverse
};

// Collective. `output` is for the request, which counts in grid->requests while it lives.
std::shared_ptr<Prepared> prepare_halo(const std::shared_ptr<HaloGrid>& grid, const HaloCall& call,
                                       MPI_Info info, Output output);

// Collective: runs one to its end. Exchanges that it makes are kept in `kept`.
void run_halo(const std::shared_ptr<HaloGrid>& grid, const HaloCall& call, KeptExchanges& kept);

// Collective: as the grid's settings choose it, measuring nothing; ranks have agreed on `request`.
std::shared_ptr<Prepared> prepare_agreed_halo(const std::shared_ptr<HaloGrid>& grid,
                                              const HaloRequest& request);

// Local: reads an exchange for a group.
std::unique_ptr<GroupedCall> group_halo(const std::shared_ptr<HaloGrid>& grid, const HaloCall& call,
                                        MPI_Info info);

// Throws Errc::argument if the grid has no such exchange.
HaloRequest read_request(const GridShape& shape, const HaloCall& call);
// What ranks must say alike of it.
std::array<Alike, 4> alike(const HaloGrid& grid, const HaloCall& call, const HaloRequest& request);

}  // namespace tonari
