// SPDX-License-Identifier: BSD-3-Clause
// Random choices of ghosts, and which cells they mean.
#pragma once

#include "grid/grids.hpp"

namespace tonari::test {

struct ChosenGhosts {
  tonari_ghosts ghosts = TONARI_GHOSTS_INIT;

  // Of a subdomain with `own` cells: whether ghost x is chosen. shift: along any dimensions.
  bool has(const Geometry& g, const Index& own, const Index& x, bool shift = false) const {
    int along = 0;
    for (int k = 0; k < g.dims; ++k) {
      const std::int64_t below = width(ghosts.lower[k], g.shape.lower[k]),
                         above = width(ghosts.upper[k], g.shape.upper[k]);
      if (x[k] < -below || x[k] >= own[k] + above) return false;
      along += x[k] < 0 || x[k] >= own[k];
    }
    return shift || ghosts.along == 0 || along <= ghosts.along;
  }
  std::string text(const Geometry& g) const {
    std::string line = "along " + std::to_string(ghosts.along);
    for (int k = 0; k < g.dims; ++k)
      line += " -" + std::to_string(ghosts.lower[k]) + " +" + std::to_string(ghosts.upper[k]);
    return line;
  }

 private:
  static std::int64_t width(std::int64_t given, std::int64_t grid) {
    return given == 0 ? grid : given == TONARI_GHOSTS_NONE ? 0 : given;
  }
};

// On bricks a side has all its ghosts or none.
inline ChosenGhosts draw_ghosts(Random& random, const Geometry& g, bool bricked) {
  ChosenGhosts chosen;
  const auto width = [&](std::int64_t grid) -> std::int64_t {
    const int kind = pick(random, 0, 3);
    if (kind == 0) return TONARI_GHOSTS_NONE;
    return kind == 1 || bricked || grid == 0 ? 0 : pick(random, 1, static_cast<int>(grid));
  };
  for (int k = 0; k < g.dims; ++k)
    chosen.ghosts.lower[k] = width(g.shape.lower[k]),
    chosen.ghosts.upper[k] = width(g.shape.upper[k]);
  chosen.ghosts.along = pick(random, 0, g.dims);
  return chosen;
}

}  // namespace tonari::test
