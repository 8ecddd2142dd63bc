// SPDX-License-Identifier: BSD-3-Clause
// Simulations for Python: schedules of patterns and graphs in, times out.
#pragma once

#include <nanobind/nanobind.h>

namespace tonari {

// Schedule, Simulation and what makes them. After the classes LogGP, Question and GraphQuestion.
void bind_simulation(nanobind::module_& m);

}  // namespace tonari
