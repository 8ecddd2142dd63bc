// One exchange, with all that is found out about it.
#pragma once

#include <map>
#include <memory>

#include "count.hpp"
#include "halo/steps.hpp"
#include "timing.hpp"

namespace bench::halo {

struct Entry {
  Kind kind;
  const Field* field = nullptr;  // none: buffers
  std::unique_ptr<Exchange> exchange{};
  double init_seconds = 0;
  bool verified = false;
  Sent sent{};                   // seen at the MPI, this rank
  int repeat = 1;                // exchanges between two looks at the clock
  Spread seconds{}, step{};      // of an exchange; of a step, its part of the exchange included
  std::vector<Phases> rounds{};  // this rank
};

// Of a storage.
struct Computing {
  std::unique_ptr<Steps> steps{};
  Spread step{};  // with the cells that are computed redundantly
  Spread own{};   // own cells once
};

// What one size shares. Fields before what refers to them.
struct Run {
  Run(const Options& given, const Torus& where, long long size)
      : options(given), torus(where), cube{size, given.ghost} {}
  const Options& options;
  const Torus& torus;
  Cube cube;
  std::map<Storage, std::unique_ptr<Field>> fields{};
  std::map<Storage, Computing> computing{};
  std::unique_ptr<PlainLoops> loops{};
  std::unique_ptr<MemorySpeed> memory{};
  std::vector<Entry> entries{};
  Spread plain{}, tiled{}, copy{};
  Quiet quiet{};
  int rounds = 0, step_rounds = 0;
};

}  // namespace bench::halo
