// SPDX-License-Identifier: BSD-3-Clause
#include "watch/mode.hpp"

#include "base/setting_table.hpp"
#include "preload/aside.hpp"

namespace tonari::watch {
namespace {

using Clock = std::chrono::steady_clock;

struct Origin {
  Clock::time_point time = Clock::now();
  Ticks ticked = ticks();
};
const Origin loaded;

}  // namespace

std::atomic<int> mode{-1};

// Never destroyed: ranks that never call MPI_Finalize write when they end.
const std::string& folder() {
  static const auto* const name =
      new std::string(in_environment(setting("TONARI_ADVISE_REPORT")).value_or(""));
  return *name;
}

bool decide() {
  const bool wanted = !folder().empty() && !preload::all_calls_pass();
  int before = -1;
  mode.compare_exchange_strong(before, wanted ? 1 : 0);
  return mode.load() > 0;
}

void stop_watching() { mode.store(0); }

double seconds_since_loaded() {
  return std::chrono::duration<double>(Clock::now() - loaded.time).count();
}

double seconds_per_tick() {
  const Ticks passed = ticks() - loaded.ticked;
  return passed ? seconds_since_loaded() / static_cast<double>(passed) : 0.0;
}

}  // namespace tonari::watch
