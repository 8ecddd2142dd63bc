// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/counting.hpp"

namespace tonari::test {

// As long as it lives, MPI_Wtime goes on only between its first two looks after `next`, or with
// Goes::each_look at all of them, by as many seconds as that says. So exchanges take the times that
// a test gives them.
class TurnClock {
 public:
  enum class Goes { once, each_look };
  explicit TurnClock(Goes goes = Goes::once) : clock_(goes == Goes::once ? once : each_look) {}
  static void next(double seconds) { begun_ += 1, looks_ = 0, takes_ = seconds; }
  // What lets the second of two candidates win at once: the first is slow as long as it takes part,
  // where a turn has three starts and where it has four.
  static double where_second_wins(int round) {
    return round < 3 || (round >= 13 && round < 17) ? 9e-6 : 1e-6;
  }

 private:
  static double once() { return begun_ + (looks_++ > 0 ? takes_ : 0); }
  static double each_look() { return begun_ + takes_ * looks_++; }
  static inline double begun_ = 0, takes_ = 0;
  static inline int looks_ = 0;
  OtherClock clock_;
};

}  // namespace tonari::test
