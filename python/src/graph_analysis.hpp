// SPDX-License-Identifier: BSD-3-Clause
// Graphs for Python: the arrays of an edge list in, rows about each algorithm and a rank's plan as
// text out.
#pragma once

#include <nanobind/nanobind.h>

namespace tonari {

// GraphQuestion and GraphAnswer. After the class LogGP.
void bind_graphs(nanobind::module_& m);

}  // namespace tonari
