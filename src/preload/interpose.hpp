// SPDX-License-Identifier: BSD-3-Clause
// How this library stands in front of an MPI. Its functions have MPI's names for the linker and
// names of their own in C++, because their handles are words: what belongs to another MPI is passed
// on with all its bits.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>
#include <type_traits>

namespace tonari::preload {

// A handle of any MPI, which is an integer or a pointer.
using Handle = std::intptr_t;

template <class Kind>
Kind handle_as(Handle handle) {
  if constexpr (std::is_pointer_v<Kind>)
    return reinterpret_cast<Kind>(handle);
  else
    return static_cast<Kind>(handle);
}

// The MPI's function of this name, which stands behind ours. Never null in a program that calls
// ours: the MPI that this library is linked with has it, too.
template <class Function>
Function* behind(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace tonari::preload

// Declares a function that takes the place of MPI_<name>. Open MPI's Fortran bindings call
// PMPI_<name>, so there it takes that name, too.
#define TONARI_VISIBLE __attribute__((visibility("default")))
#define TONARI_IN_FRONT_OF(name, ours, ...) \
  extern "C" TONARI_VISIBLE int ours(__VA_ARGS__) asm("MPI_" #name);
#ifdef OPEN_MPI
#define TONARI_ALSO_FOR_FORTRAN(name, ours) \
  extern "C" TONARI_VISIBLE                 \
      __attribute__((alias("MPI_" #name))) decltype(ours) ours##_fortran asm("PMPI_" #name);
#else
#define TONARI_ALSO_FOR_FORTRAN(name, ours)  // MPICH's call MPI_<name>
#endif
