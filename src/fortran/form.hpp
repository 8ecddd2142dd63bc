// SPDX-License-Identifier: BSD-3-Clause
// Calls one of the forms of an operation: complete at once, started, or to be started.
#pragma once

#include "request/guard.hpp"
#include "tonari/fortran.h"

namespace tonari {

// `call` returns a code of its own.
template <class Call>
int run(Call&& call) noexcept {
  int code = TONARI_SUCCESS;
  const int thrown = guarded([&] { code = call(); });
  return thrown ? thrown : code;
}

// Each takes no argument; what there is no such form of is an error.
template <class Completed, class Started, class Persistent>
int in_form(int form, Completed&& completed, Started&& started, Persistent&& persistent) noexcept {
  return run([&] {
    switch (form) {
      case TONARI_FORTRAN_ONCE:
        return completed();
      case TONARI_FORTRAN_STARTED:
        return started();
      case TONARI_FORTRAN_PERSISTENT:
        return persistent();
    }
    fail(Errc::argument, "`form` is ", form, "; it must be one of TONARI_FORTRAN_...");
  });
}
template <class Completed, class Persistent>
int in_form(int form, Completed&& completed, Persistent&& persistent) noexcept {
  return in_form(
      form, completed,
      [&]() -> int { fail(Errc::argument, "`form` is STARTED, which this operation has not"); },
      persistent);
}

}  // namespace tonari
