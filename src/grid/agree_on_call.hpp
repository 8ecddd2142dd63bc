// SPDX-License-Identifier: BSD-3-Clause
// What ranks agree on before they make a halo exchange, or take one that they have kept.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "grid/halo_program.hpp"
#include "grid/read_call.hpp"
#include "request/kept.hpp"
#include "request/settings.hpp"

namespace tonari {

// What a call asks for, a number for it, and the exchange that all ranks have kept for it, if there
// is one.
struct AgreedHalo {
  HaloRequest request = {};
  Settings settings = {};
  std::uint64_t call = 0;
  std::shared_ptr<Prepared> kept = {};
};

// Collective: if it is right and the same everywhere. kept: null where none is of use.
AgreedHalo agree_on_halo(const HaloGrid& grid, const HaloCall& call, MPI_Info info, Output output,
                         KeptCalls* kept);

}  // namespace tonari
