// SPDX-License-Identifier: BSD-3-Clause
// How this library stands in front of an MPI. Its functions have MPI's names for the linker and
// names of their own in C++, because their handles are words: what belongs to another MPI is passed
// on with all its bits.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>
#include <type_traits>

#include "preload/passing.hpp"

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

// The next function of this name behind ours: a profiling tool's, or the MPI's. Never null in a
// program that calls ours: the MPI that this library is linked with has it, too.
template <class Function>
Function* behind(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// What the program has called: the function behind ours, MPI's name, and where the call returns to;
// null where it comes back (passing.hpp).
template <class Function>
struct Called {
  Function* real;
  const char* name;
  const void* site;
};

}  // namespace tonari::preload

// Defines, in the namespace above, the functions that take the place of the MPI's `name` and of its
// P`name`: tools between the program and this library call the latter, and so do Fortran bindings.
// The full name stands wherever this is used, for searches; .ctags.d tells ctags.
// Each passes calls on to the next function of its own name. `takes` are the parameters in
// parentheses. The rest is what they return, an expression in which `called` is a Called. A
// semicolon ends it, as it ends a declaration.
#define TONARI_IN_FRONT_OF(name, takes, ...) TONARI_IN_FRONT_OF_(name, takes, __VA_ARGS__)
#define TONARI_IN_FRONT_OF_(name, takes, ...) \
  constexpr char calls_of_##name = 0;         \
  TONARI_ENTRIES(name, calls_of_##name, takes, __VA_ARGS__)
// Functions with the same mark form a set, of which a call inside of another one counts as the same
// call (passing.hpp).
#define TONARI_ENTRIES(name, mark, takes, ...)        \
  TONARI_ENTRY(name, #name, mark, takes, __VA_ARGS__) \
  TONARI_ENTRY(P##name, #name, mark, takes, __VA_ARGS__) static_assert(true)
#define TONARI_ENTRY(symbol, mpi_name, mark, takes, ...)                            \
  extern "C" TONARI_VISIBLE int in_front_of_##symbol takes asm(#symbol);            \
  int in_front_of_##symbol takes {                                                  \
    using Function = decltype(in_front_of_##symbol);                                \
    static Function* const real = ::tonari::preload::behind<Function>(#symbol);     \
    const ::tonari::preload::Inside here(&mark, __builtin_frame_address(0));        \
    const ::tonari::preload::Called<Function> called{                               \
        real, mpi_name, here.comes_back() ? nullptr : __builtin_return_address(0)}; \
    return __VA_ARGS__;                                                             \
  }
#define TONARI_VISIBLE __attribute__((visibility("default")))
