// SPDX-License-Identifier: BSD-3-Clause
// When a rank that gives its core away sleeps instead.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tonari {

// A process that never waits keeps the core for its time slice, 3 to 4 ms, at each yield (Linux
// since 6.12 takes one slice of who yields, too). Who sleeps instead gets the core back at the end.
// But not where other ranks compute on this core between their own waits: there a sleep of 50 us
// takes as long as a slice, and what is waited for was there long before.
class Naps {
 public:
  static constexpr double long_yield = 1e-3, late = 0.2e-3;  // seconds
  static constexpr std::uint32_t fewest = 4, most = 1024, forget_after = 64;
  static constexpr std::uint32_t too_late = 2, most_ignored = 64;

  // Whether to sleep for a moment instead of the next yield.
  bool take() {
    if (left_ == 0) return false;
    --left_, ++taken_;
    return true;
  }
  // Each long yield is followed by twice as many naps as the one before. After a sleep the system
  // gives a few short yields, so only 64 in a row say that the core is free again.
  // Returns whether this one was long.
  bool yielded(double seconds) {
    if (seconds < long_yield) {
      if (++short_ >= forget_after) naps_ = 0;
      return false;
    }
    short_ = 0;
    if (left_to_ignore_ > 0)
      --left_to_ignore_;
    else
      left_ = naps_ = std::clamp(2 * naps_, fewest, most);
    return true;
  }
  // After a nap. Two in a row that end late end the series, and the next long yields are followed
  // by none: by twice as many as the last time.
  void slept(double seconds) {
    if (seconds < late) {
      late_ = 0;
      if (left_ == 0) ignored_ = 0;
    } else if (++late_ == too_late) {
      late_ = left_ = naps_ = 0;
      left_to_ignore_ = ignored_ = std::clamp(2 * ignored_, 1U, most_ignored);
    }
  }
  std::uint64_t taken() const { return taken_; }

 private:
  std::uint32_t left_ = 0, naps_ = 0, short_ = 0;
  std::uint32_t late_ = 0, ignored_ = 0, left_to_ignore_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace tonari
