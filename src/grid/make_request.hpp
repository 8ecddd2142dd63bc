// SPDX-License-Identifier: BSD-3-Clause
// Builds the exchange that a grid's request gets: the chosen one, with what it says of itself and
// the arrays that starts may replace.
#pragma once

#include <memory>

#include "grid/halo_exchanges.hpp"

namespace tonari {

// Collective. start: the time of the call.
std::shared_ptr<Prepared> build_halo(const HaloTask& task, double start);

}  // namespace tonari
