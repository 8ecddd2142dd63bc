// SPDX-License-Identifier: BSD-3-Clause
// Sizes of cubes and widths of ghosts on a command line: whole bricks, and room for both halos.
#pragma once

#include <vector>

#include "base/error.hpp"

namespace bench::halo {

// Throws tonari::Error with a sentence. `otherwise`: what else helps, as its end.
inline void check_cubes(const std::vector<long long>& sizes, long long ghost, long long brick,
                        const char* otherwise = "") {
  const auto in_bricks = [&](const char* what, long long cells) {
    if (cells % brick != 0)
      tonari::fail(tonari::Errc::argument, what, " ", cells, " is no multiple of bricks of ", brick,
                   " cells; take ", cells / brick * brick + brick, otherwise);
  };
  in_bricks("--ghost", ghost);
  for (const long long n : sizes) {
    in_bricks("--size", n);
    if (n < 2 * ghost)
      tonari::fail(tonari::Errc::argument, "--size ", n, " is less than two halos of ", ghost,
                   " cells; make it at least ", 2 * ghost, ", or --ghost smaller");
  }
}

}  // namespace bench::halo
