// SPDX-License-Identifier: BSD-3-Clause
// Stencils for C++20 programs, on subdomains in bricks and on arrays (tonari/grid_layout.h), with
// equal results bit for bit. Header only, without MPI.
#pragma once

#include <tonari/stencil/apply_array.hpp>
#include <tonari/stencil/apply_bricks.hpp>
#include <tonari/stencil/expansion.hpp>
#include <tonari/stencil/kernel.hpp>
