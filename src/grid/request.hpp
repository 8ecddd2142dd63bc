// SPDX-License-Identifier: BSD-3-Clause
// Prepares halo exchanges for calls.
#pragma once

#include <mpi.h>

#include <memory>

#include "grid/read_call.hpp"
#include "neighborhood/group.hpp"
#include "request/kept.hpp"

namespace tonari {

// Collective. `output` is for the request, which counts in grid->requests while it lives.
std::shared_ptr<Prepared> prepare_halo(const std::shared_ptr<HaloGrid>& grid, const HaloCall& call,
                                       MPI_Info info, Output output);

// Collective: runs one to its end. Keeps what it makes in `kept`, for the same calls to come.
void run_halo(const std::shared_ptr<HaloGrid>& grid, const HaloCall& call, KeptCalls& kept);

// Collective: as the grid's settings choose it, measuring nothing; ranks have agreed on `request`.
std::shared_ptr<Prepared> prepare_agreed_halo(const std::shared_ptr<HaloGrid>& grid,
                                              const HaloRequest& request);

// Local: reads an exchange for a group.
std::unique_ptr<GroupedCall> group_halo(const std::shared_ptr<HaloGrid>& grid, const HaloCall& call,
                                        MPI_Info info);

}  // namespace tonari
