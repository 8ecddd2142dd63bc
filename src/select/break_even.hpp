// SPDX-License-Identifier: BSD-3-Clause
// Tells when an init has paid for itself.
#pragma once

#include <string>

namespace tonari {

// An exchange and MPI's own collective, as one contest measured them, in seconds; 0 if not
// measured.
struct AgainstNative {
  double seconds = 0, native = 0;
};

// After how many exchanges an init of this many seconds has cost less than it saved: a line for
// tonari_request_describe. Pure.
std::string break_even(double init, const AgainstNative& times);

}  // namespace tonari
