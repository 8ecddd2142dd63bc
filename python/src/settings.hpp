// SPDX-License-Identifier: BSD-3-Clause
// The table of settings for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace tonari {

// Setting and settings().
void bind_settings(nanobind::module_& m);

}  // namespace tonari
