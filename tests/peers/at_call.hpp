// SPDX-License-Identifier: BSD-3-Clause
// What befalls a rank in a certain call of the MPI that the library makes: this program takes the
// place of some functions of the MPI.
#pragma once

#include <string>

namespace tonari::test {

enum class Fate {
  die,   // by SIGKILL, before the call does anything
  halt,  // by SIGSTOP, likewise
  spin,  // the call never returns, as in an MPI whose shared memory a dead rank has left halfway
};

// From now on, in the call of that name; or only in a later one, if so many come before. False:
// there is no such function.
bool let_befall(Fate fate, const std::string& call, int before = 0);

}  // namespace tonari::test
