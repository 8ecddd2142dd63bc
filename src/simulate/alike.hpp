// SPDX-License-Identifier: BSD-3-Clause
// A torus on which all ranks do the same at the same time, simulated by one of them.
//
// With equal links, no noise and no long messages, ranks of a shared program differ only in their
// numbers. Those matter where two things that wait for one processor became ready at one time, of
// which one is another rank's message. If that never happens while one rank plays all others, too,
// then every rank has its times, to the bit.
#pragma once

#include <optional>

#include "simulate/engine.hpp"

namespace tonari::sim {

// The outcome of all ranks, or nothing where ranks may differ.
std::optional<Outcome> run_alike(const Schedule& schedule, const Machine& machine);

}  // namespace tonari::sim
