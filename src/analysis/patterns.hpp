// SPDX-License-Identifier: BSD-3-Clause
// Neighborhoods by name, as the command line and the benchmark write them.
#pragma once

#include <string>
#include <vector>

#include "topology/grid.hpp"

namespace tonari {

struct Pattern {
  int dimensions;
  std::vector<Vec> offsets;  // in row order (lexicographic), without the zero vector
};

// "moore:d:r"      all offsets with max |c_j| <= r
// "star:d:r"       offsets along one axis, |c_j| <= r
// "octant:d[:r]"   all offsets with 0 <= c_j <= r (Träff 2016, Fig. 2f); r = 1 if left out
// "shells:d:r1,r2" offsets whose max |c_j| is one of the radii (the "shales"
//                of Träff 2016, Fig. 4b)
// anything else is the path of a text file: one offset per line, coordinates separated by blanks or
// commas, # starts a comment. Throws Errc::argument or Errc::file with a sentence that says what is
// wrong.
Pattern parse_pattern(const std::string& pattern);

}  // namespace tonari
