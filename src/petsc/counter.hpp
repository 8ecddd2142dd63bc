// SPDX-License-Identifier: BSD-3-Clause
// How many exchanges went through tonari in this process, and how many were passed on.
#pragma once

#include <petsclog.h>

#include <cstdint>

namespace tonari::petsc {

struct Counter {
  std::int64_t exchanges = 0;  // completed by tonari
  std::int64_t passed_on = 0;  // begun by the type basic
  PetscLogEvent event = 0;     // of -log_view: waits for exchanges
};

inline Counter& counter() {
  static Counter of_this_process;
  return of_this_process;
}

}  // namespace tonari::petsc
