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

// What the program has called: the MPI's function, its name, and where the call returns to.
template <class Function>
struct Called {
  Function* real;
  const char* name;
  const void* site;
};

}  // namespace tonari::preload

// Defines, in the namespace above, the function that takes the place of the MPI's `name`. `takes`
// are its parameters in parentheses. The rest is what it returns, an expression in which `called`
// is a Called. A semicolon ends it, as it ends a declaration.
#define TONARI_IN_FRONT_OF(name, takes, ...) TONARI_IN_FRONT_OF_(name, takes, __VA_ARGS__)
#define TONARI_IN_FRONT_OF_(name, takes, ...)                                \
  extern "C" TONARI_VISIBLE int in_front_of_##name takes asm(#name);         \
  int in_front_of_##name takes {                                             \
    using Function = decltype(in_front_of_##name);                           \
    static Function* const real = behind<Function>("P" #name);               \
    const Called<Function> called{real, #name, __builtin_return_address(0)}; \
    return __VA_ARGS__;                                                      \
  }                                                                          \
  TONARI_ALSO_FOR_FORTRAN(name)
#define TONARI_VISIBLE __attribute__((visibility("default")))

// Open MPI's Fortran bindings call PMPI_<name>, so there ours takes that name, too; those of MPICH
// call MPI_<name>.
#ifdef OPEN_MPI
#define TONARI_ALSO_FOR_FORTRAN(name)       \
  extern "C" TONARI_VISIBLE __attribute__(( \
      alias(#name))) decltype(in_front_of_##name) in_front_of_P##name asm("P" #name)
#else
#define TONARI_ALSO_FOR_FORTRAN(name) extern "C" decltype(in_front_of_##name) in_front_of_##name
#endif
