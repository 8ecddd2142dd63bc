// SPDX-License-Identifier: BSD-3-Clause
// Addresses that stand for something else than a buffer.
#pragma once

#include <mpi.h>

#include "base/error.hpp"

namespace tonari {

// The Fortran module gives its address in the place of that of an array that is not contiguous: so
// all ranks hear of it where buffers are read.
inline constexpr char not_contiguous = 0;

inline bool is_no_buffer(const void* buffer) {
  return buffer == MPI_IN_PLACE || buffer == &not_contiguous;
}

inline void require_contiguous(const void* buffer, const char* name) {
  if (buffer == &not_contiguous)
    fail(Errc::argument, "`", name,
         "` is an array that is not contiguous in memory; give one that is, such as a copy of it");
}

}  // namespace tonari
