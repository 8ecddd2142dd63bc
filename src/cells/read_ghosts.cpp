// SPDX-License-Identifier: BSD-3-Clause
#include "cells/read_ghosts.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/hash.hpp"

namespace tonari {
namespace {

// The width of one side, of which there are `all` cells.
std::int64_t width_of(std::int64_t given, std::int64_t all, const char* side, int k) {
  if (given == 0) return Reach::widest()[0];
  if (given == TONARI_GHOSTS_NONE) return 0;
  if (given < 0 || given > all)
    fail(Errc::argument, "ghosts.", side, "[", k, "] is ", given, ", but there are ", all,
         " ghosts; it must be at most that, 0 for all of them, or TONARI_GHOSTS_NONE");
  return given == all ? Reach::widest()[0] : given;
}

}  // namespace

Reach read_ghosts(const tonari_ghosts* ghosts, const GridBox& box) {
  Reach reach;
  if (!ghosts) return reach;
  if (std::ranges::any_of(ghosts->reserved, [](int word) { return word != 0; }))
    fail(Errc::argument, "ghosts.reserved is not 0; start from TONARI_GHOSTS_INIT");
  if (ghosts->along < 0 || ghosts->along > box.dims)
    fail(Errc::argument, "ghosts.along is ", ghosts->along, "; it must be from 1 to ", box.dims,
         ", the number of dimensions, or 0 for all ghosts");
  if (ghosts->along > 0 && ghosts->along < box.dims) reach.along = ghosts->along;
  for (int k = 0; k < box.dims; ++k) {
    reach.lower[k] = width_of(ghosts->lower[k], box.lower[k], "lower", k);
    reach.upper[k] = width_of(ghosts->upper[k], box.upper[k], "upper", k);
  }
  return reach;
}

Alike alike_ghosts(const Reach& reach, int dims) {
  Hash ghosts;
  ghosts.word(static_cast<std::uint64_t>(reach.along));
  for (int k = 0; k < dims; ++k) ghosts.word(reach.lower[k]).word(reach.upper[k]);
  return {ghosts.value() & largest_ballot,
          "ranks asked for different ghosts; `ghosts` must be the same on all ranks"};
}

}  // namespace tonari
