// SPDX-License-Identifier: BSD-3-Clause
// How it was found out what to run.
#pragma once

#include <string>

#include "select/break_even.hpp"

namespace tonari {

struct Evidence {
  std::string reason = {};      // forced, fixed rule, model, measured, wisdom, online
  double measured = 0;          // seconds; 0 if it was not measured
  AgainstNative times = {};     // of the contest that decided, or as remembered
  double predicted_native = 0;  // seconds of MPI's own collective by the model; 0: not asked

  // A choice by this one was followed by another. MPI's own collective took part in few of them.
  void follow(const Evidence& later) {
    reason = later.reason, measured = later.measured;
    if (later.times.native > 0) times = later.times;
    if (later.predicted_native > 0) predicted_native = later.predicted_native;
  }
};

}  // namespace tonari
