// SPDX-License-Identifier: BSD-3-Clause
// Which way the calls of one kind on a communicator go: through tonari, or straight to the MPI. The
// first calls try both in turns; then the ranks compare. A call's way follows from the number of
// calls before it and from what all ranks have agreed on, so it is the same on all ranks, whatever
// the sizes of their blocks are.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace tonari::preload {

enum class Way { tonari, native };

class Choice {
 public:
  Choice() = default;
  explicit Choice(Way always) : decided_(true), way_(always) {}

  static constexpr int warming = 2;         // one call each that is not timed
  static constexpr int trials = 8;          // timed calls, half of them each
  bool tries() const { return !decided_; }  // the next call
  // The next call comes after all trials: the ranks have to compare `best` and decide.
  bool ready() const { return !decided_ && calls_ == warming + trials; }
  // The turns follow Thue and Morse: programs that call in turns try each call both ways.
  Way next() const {
    return decided_ ? way_ : static_cast<Way>(std::popcount(static_cast<unsigned>(calls_)) % 2);
  }

  // A call that was tried went this way and took so long.
  void took(Way way, double seconds) {
    double& best = best_[static_cast<int>(way)];
    if (calls_++ >= warming) best = std::min(best, seconds);
  }
  // Seconds of this rank's fastest call, by Way.
  std::array<double, 2> best() const { return best_; }
  // By Way: the longest of all ranks' fastest calls.
  void decide(const std::array<double, 2>& slowest) {
    decided_ = true;
    way_ = slowest[0] <= slowest[1] ? Way::tonari : Way::native;
  }

 private:
  bool decided_ = false;
  Way way_ = Way::tonari;
  int calls_ = 0;
  std::array<double, 2> best_{std::numeric_limits<double>::max(),
                              std::numeric_limits<double>::max()};
};

}  // namespace tonari::preload
