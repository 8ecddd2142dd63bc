// SPDX-License-Identifier: BSD-3-Clause
// Times of several things that are compared: in turns, so that what disturbs the machine disturbs
// all; the best of each. Before its turn each runs once untimed: those that work on the same memory
// would find it in the cache, others would not.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <vector>

namespace tonari::bench {

inline double seconds_of(const std::function<void()>& what, int times) {
  what();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) what();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
}

// Seconds of one call of each, in about `seconds` each, at least three turns.
inline std::vector<double> measure(const std::vector<std::function<void()>>& all, double seconds) {
  std::vector<double> best(all.size(), std::numeric_limits<double>::max());
  std::vector<int> times;
  int turns = 3;
  for (const auto& what : all) {
    const double once = std::max(seconds_of(what, 1), 1e-7);
    times.push_back(static_cast<int>(std::clamp(seconds / 20 / once, 1.0, 1e6)));
    turns = std::max(turns, static_cast<int>(std::min(20.0, seconds / once)));
  }
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < all.size(); ++i)
      best[i] = std::min(best[i], seconds_of(all[i], times[i]));
  return best;
}

}  // namespace tonari::bench
