// SPDX-License-Identifier: BSD-3-Clause
// Where the program itself calls. Fortran's bindings and mpi4py stand between it and the MPI's C
// functions, so their one line would stand for all places of the program.
#pragma once

#include <compare>
#include <string>

#include "preload/place.hpp"

namespace tonari::preload {

struct Origin {
  Place place;
  int line = 0;  // of the file that `place` names, if that is a script; else 0
  std::string function = {};

  friend auto operator<=>(const Origin&, const Origin&) = default;
};

// Of the call of this thread that returns to `site`. Takes microseconds, and for a moment the lock
// of Python's interpreter if mpi4py makes the call.
Origin origin_of(const void* site);

}  // namespace tonari::preload
