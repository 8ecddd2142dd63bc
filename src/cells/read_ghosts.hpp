// SPDX-License-Identifier: BSD-3-Clause
// Reads which ghosts an exchange of a grid is about.
#pragma once

#include "layout/halo_links.hpp"
#include "request/agree_on_arguments.hpp"
#include "tonari/grid_layout.h"

namespace tonari {

// Widths are those of `box`, whose own cells do not matter; null: all ghosts. What is not narrower
// than they are stays as wide as can be. Throws Errc::argument.
Reach read_ghosts(const tonari_ghosts* ghosts, const GridBox& box);

// What of it ranks compare.
Alike alike_ghosts(const Reach& reach, int dims);

}  // namespace tonari
