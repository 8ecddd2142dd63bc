// SPDX-License-Identifier: BSD-3-Clause
// The race between tonari and the type basic: both do exchanges of the program in turn, and all
// ranks agree on who is faster. It has several heats, since tonari is still choosing its way at
// first. The first heat that is clear ends it, so that what is used rarely has a winner, too.
#pragma once

#include <petscsys.h>

#include <vector>

namespace tonari::petsc {

enum class Runner : bool { tonari, basic };

// For the exchanges of one kind. All ranks ask and tell it the same number of times.
class Race {
 public:
  static constexpr int heats = 3;  // at most

  // Who is to do the next exchange, and whether it is to be timed.
  Runner next() const;
  bool timing() const { return turns_left_ > 0; }
  // After an exchange that was to be timed. Collective where it is the last of a heat.
  PetscErrorCode finished(MPI_Comm comm, Runner runner, double seconds);
  // After any other exchange that tonari did.
  void passed();
  bool lost() const { return lost_; }
  // Seconds on the slowest rank as of the last heat; 0 before.
  double seconds(Runner runner) const { return seconds_[static_cast<int>(runner)]; }
  void call_off() { heat_ = heats, turns_left_ = 0; }

 private:
  PetscErrorCode decide(MPI_Comm comm);
  void begin_heat();

  int heat_ = 0, turns_left_ = 0, passed_ = 0;
  bool lost_ = false;
  std::vector<double> times_[2];
  double seconds_[2] = {0, 0};
};

}  // namespace tonari::petsc
