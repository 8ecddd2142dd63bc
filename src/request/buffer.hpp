// SPDX-License-Identifier: BSD-3-Clause
// Addresses that stand for something else than a buffer, or for one that the host cannot read.
#pragma once

#include <mpi.h>

#include <string>

#include "base/error.hpp"
#include "memory/gpu_memory.hpp"

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

// why: no device of this process serves it, as a part of a sentence; empty: this call takes none.
[[noreturn]] inline void refuse_gpu_memory(const std::string& name, const std::string& why = {}) {
  fail(Errc::argument, name,
       " is memory of a GPU, which the host cannot read; give a copy in host memory, or managed or "
       "pinned memory",
       why.empty() ? "" : " (", why, why.empty() ? "" : ")");
}

// For buffers of the host that are looked at for the first time. On the way of a start,
// require_contiguous and on_gpu are enough.
inline void require_usable(const void* buffer, const char* name) {
  require_contiguous(buffer, name);
  look_for_gpu_drivers();
  if (on_gpu(buffer)) refuse_gpu_memory(text("`", name, "`"));
}

}  // namespace tonari
