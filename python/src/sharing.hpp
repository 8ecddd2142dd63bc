// SPDX-License-Identifier: BSD-3-Clause
// Irregular patterns for Python: a communication matrix in, what each planner of
// src/planners/patterns makes of it in numbers out.
#pragma once

#include <nanobind/nanobind.h>

namespace tonari {

// CommunicationMatrix, SharingAnswer and sharing_schemes(). After the class LogGP.
void bind_sharing(nanobind::module_& m);

}  // namespace tonari
