// SPDX-License-Identifier: BSD-3-Clause
// One-shot calls for halo exchanges: they keep what they make for the same calls to come.
#pragma once

#include <memory>

#include "grid/read_call.hpp"
#include "request/kept.hpp"

namespace tonari {

// Collective: runs one to its end. Exchanges that it makes are kept in `kept`.
void run_halo(const std::shared_ptr<HaloGrid>& grid, const HaloCall& call, KeptCalls& kept);

}  // namespace tonari
