// SPDX-License-Identifier: BSD-3-Clause
// What the program says: times as quartiles, and everything as one JSON object.
#pragma once

#include <tonari/tonari.h>

#include <string>
#include <vector>

#include "heat.hpp"

// Seconds per exchange on this rank, step by step.
using Times = std::vector<double>;

struct Quartiles {
  double q1, median, q3;
};
// Per step the slowest rank counts. Complete on the root only. [collective]
Quartiles quartiles(const Domain& domain, Times times);

struct Sample {
  int step;
  std::vector<double> content;  // of each mode
};

struct Report {
  const Domain* domain;
  int steps;
  Quartiles native, tonari;
  tonari_request_info plan;
  std::string description;
  double error_native, error_tonari, error_limit;
  bool fields_equal;
  std::vector<Sample> samples;
  std::vector<int> slice_steps;

  bool passed() const {
    return fields_equal && error_native <= error_limit && error_tonari <= error_limit;
  }
};

std::string json(const Report& report);  // one line
