// SPDX-License-Identifier: BSD-3-Clause
// Builds the exchange that runs a candidate.
#pragma once

#include <memory>

#include "engine/run/wiring.hpp"
#include "engine/wait/exchange.hpp"

namespace tonari {

// Collective only if the candidate is native. `wiring` belongs to this candidate.
std::unique_ptr<Exchange> build(Context& context, const Candidate& candidate,
                                const Settings& settings, const Arguments& arguments, int first_tag,
                                Wiring wiring);

}  // namespace tonari
