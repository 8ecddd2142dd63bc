// SPDX-License-Identifier: BSD-3-Clause
// What an exchange costs the program that runs it.
#pragma once

namespace tonari {

// The time that a program loses to one exchange: what it spends in calls. Between two looks that
// soon follow each other it waits, too; before the first one, and in longer breaks, it computes.
class CallTime {
 public:
  void begin() { seconds_ = 0, last_ = -1; }
  void enter(double now) {
    if (last_ >= 0 && now - last_ < longest_break) seconds_ += now - last_;
    entered_ = now;
  }
  void leave(double now, bool looked) {
    seconds_ += now - entered_;
    if (looked) last_ = now;
  }
  double seconds() const { return seconds_; }

 private:
  static constexpr double longest_break = 3e-4;  // seconds; waiting ranks sleep at most 2e-4
  double seconds_ = 0, entered_ = 0, last_ = -1;
};

}  // namespace tonari
