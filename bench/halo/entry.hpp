// SPDX-License-Identifier: BSD-3-Clause
// One exchange, with all that is found out about it.
#pragma once

#include <map>
#include <memory>

#include "halo/steps.hpp"

namespace bench::halo {

struct Measured {
  Kind kind;
  const Field* field = nullptr;  // none: buffers
  int repeat = 1;                // exchanges between two looks at the clock
  Spread step{};                 // its part of the exchange included
  std::vector<Phases> rounds{};  // this rank
};
using Entry = bench::Entry<Measured, Exchange>;

// Of a storage.
struct Computing {
  std::unique_ptr<Steps> steps{};
  Spread step{};  // with the cells that are computed redundantly
  Spread own{};   // own cells once
};

// What one size shares. Fields before what refers to them.
struct Run : Harness<Measured, Exchange> {
  Run(const Options& given, const Torus& where, long long size)
      : Harness(where.comm()), options(given), torus(where), cube{size, given.ghost} {}
  ~Run() { entries.clear(); }  // they refer to the fields
  const Options& options;
  const Torus& torus;
  Cube cube;
  std::map<Storage, std::unique_ptr<Field>> fields{};
  std::map<Storage, Computing> computing{};
  std::unique_ptr<PlainLoops> loops{};
  std::unique_ptr<MemorySpeed> memory{};
  Spread plain{}, tiled{}, copy{};
  int step_rounds = 0;
};

}  // namespace bench::halo
