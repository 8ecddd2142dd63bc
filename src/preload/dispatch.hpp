// SPDX-License-Identifier: BSD-3-Clause
// Which library does the calls of one kind on a communicator: tonari or the MPI. The first calls
// try both in turns; then the ranks compare. Who does a call follows from the number of calls
// before it and from what all ranks have agreed on, so it is the same on all ranks, whatever the
// sizes of their blocks are.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace tonari::preload {

enum class Backend { tonari, native };  // native: the MPI

class Dispatch {
 public:
  Dispatch() = default;
  explicit Dispatch(Backend always) : decided_(true), backend_(always) {}

  static constexpr int warming = 2;         // one call each that is not timed
  static constexpr int trials = 8;          // timed calls, half of them each
  bool tries() const { return !decided_; }  // the next call
  // The next call comes after all trials: the ranks have to compare `best` and decide.
  bool ready() const { return !decided_ && calls_ == warming + trials; }
  // The turns follow Thue and Morse: programs that call in turns try each call with both.
  Backend next() const {
    return decided_ ? backend_
                    : static_cast<Backend>(std::popcount(static_cast<unsigned>(calls_)) % 2);
  }

  // A call that was tried was done by this one and took so long.
  void took(Backend backend, double seconds) {
    double& best = best_[static_cast<int>(backend)];
    if (calls_++ >= warming) best = std::min(best, seconds);
  }
  // Seconds of this rank's fastest call, by Backend.
  std::array<double, 2> best() const { return best_; }
  // By Backend: the longest of all ranks' fastest calls.
  void decide(const std::array<double, 2>& slowest) {
    decided_ = true;
    backend_ = slowest[0] <= slowest[1] ? Backend::tonari : Backend::native;
  }

 private:
  bool decided_ = false;
  Backend backend_ = Backend::tonari;
  int calls_ = 0;
  std::array<double, 2> best_{std::numeric_limits<double>::max(),
                              std::numeric_limits<double>::max()};
};

}  // namespace tonari::preload
