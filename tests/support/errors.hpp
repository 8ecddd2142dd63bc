// The error a piece of code throws, to look at code and sentence.
#pragma once

#include "base/error.hpp"

namespace tonari::test {

template <class F>
Error error_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  return Error(Errc::success, "no error was thrown");
}

}  // namespace tonari::test
