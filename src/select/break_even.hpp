// When an init has paid for itself.
#pragma once

#include <string>

namespace tonari {

// An exchange beside MPI's own collective, as one contest measured them. In seconds; 0: not
// measured.
struct AgainstNative {
  double seconds = 0, native = 0;
};

// How many exchanges it takes until an init of so many seconds has cost less than it saved: a line
// for tonari_request_describe. Pure.
std::string break_even(double init, const AgainstNative& times);

}  // namespace tonari
