// SPDX-License-Identifier: BSD-3-Clause
// Rows of one size.
#pragma once

#include "halo/entry.hpp"
#include "program.hpp"

namespace bench::halo {

void add_rows(const Run& run, Outcome& outcome);  // [collective]

}  // namespace bench::halo
