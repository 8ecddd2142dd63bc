// SPDX-License-Identifier: BSD-3-Clause
// What the program says: times as quartiles, and everything as one JSON object.
#pragma once

#include <tonari/tonari.h>

#include <string>
#include <vector>

#include "heat.hpp"

// Seconds per exchange, step by step.
using Times = std::vector<double>;

// The slowest rank's, where times are this rank's. Complete on the root only. [collective]
Times slowest(const Domain& domain, const Times& times);

struct Quartiles {
  double q1, median, q3;
};
Quartiles quartiles(Times times);

struct Sample {
  int step;
  std::vector<double> content;  // of each mode
};

struct Report {
  const Domain* domain;
  int steps;
  Times native, tonari;  // of the slowest rank
  double setup_seconds;  // of tonari's exchange, on the slowest rank
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
