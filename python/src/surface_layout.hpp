// SPDX-License-Identifier: BSD-3-Clause
// Orders of surface regions for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace tonari {

// SurfaceOrder, surface_order() and search_surface_order().
void bind_layout(nanobind::module_& m);

}  // namespace tonari
