// SPDX-License-Identifier: BSD-3-Clause
// The settings of halo exchanges.
#pragma once

#include <mpi.h>

#include <optional>

#include "grid/halo_program.hpp"
#include "request/settings.hpp"

namespace tonari {

struct HaloSettings {
  std::optional<HaloKind> kind;  // none: auto
  Settings common;
};

// Throws Errc::argument, and Errc::algorithm if such a request on such a grid has no kind that is
// named so. Local.
HaloSettings read_halo_settings(MPI_Info info, const GridShape& shape, const HaloRequest& request);

}  // namespace tonari
