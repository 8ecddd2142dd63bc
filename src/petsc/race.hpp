// SPDX-License-Identifier: BSD-3-Clause
// The race between tonari and the type basic: both do exchanges of the program in turn, and all
// ranks agree on who is faster. It has several heats, since tonari is still choosing its way at
// first. The first heat that is clear ends it, so that what is used rarely has a winner, too.
//
// Where ranks share cores, time on the clock is mostly what others compute meanwhile. There it is
// processor time that counts: what one rank does not take, another one has.
//
// Ranks agree while another exchange is under way: its begin asks, and its end hears the answer. So
// no end waits for ranks that have not begun, in whatever order they end those of several star
// forests.
#pragma once

#include <petscsys.h>

#include <memory>
#include <vector>

namespace tonari::petsc {

enum class Runner : bool { tonari, basic };

// The same on all ranks, and different for races that may ask at the same time.
struct RaceName {
  PetscMPIInt star_forest = 0;
  int kind = 0;
};

// For the exchanges of one kind. All ranks ask and tell it the same number of times.
class Race {
 public:
  static constexpr int heats = 3;  // at most
  // Exchanges that one of them does before it is the other's turn. The first one does not count: in
  // it ranks wait for those that the other has left behind.
  static constexpr int row = 4;

  Race();
  ~Race();
  Race(const Race&) = delete;
  Race& operator=(const Race&) = delete;

  // Collective, before any race on this communicator of PETSc's asks.
  static PetscErrorCode prepare(MPI_Comm comm);

  // All ranks know it before the first heat.
  void ranks_share_cores() { crowded_ = true; }
  // Seconds from some time on, by which exchanges are to be timed.
  double now() const;

  // Who is to do the next exchange, and whether it is to be timed.
  Runner next() const;
  bool timing() const { return turns_left_ > 0; }
  // After an exchange that was to be timed.
  void finished(Runner runner, double seconds);
  // After any other exchange that tonari did, unless it is the one that asks. chosen: tonari has
  // chosen its way; the same on all ranks.
  void passed(bool chosen);

  // A heat is over: the next exchange is to ask.
  bool asks() const { return over_; }
  // Collective, but waits for no rank.
  PetscErrorCode ask(MPI_Comm comm, const RaceName& name);
  // Waits for those that have not asked. Where races of all ranks asked in different orders, those
  // run this heat again.
  PetscErrorCode hear(MPI_Comm comm);

  bool lost() const { return lost_; }
  bool decided() const { return heat_ == heats; }
  // Seconds of one exchange as of the last heat, on the slowest rank or, where ranks share cores,
  // the mean over ranks; 0 before.
  double seconds(Runner runner) const { return seconds_[static_cast<int>(runner)]; }
  void call_off() { heat_ = heats, turns_left_ = 0; }

 private:
  struct Question;
  void decide(int ranks);
  void begin_heat();
  // Of this rank, in the heat.
  double typical(Runner runner) const;

  bool crowded_ = false;
  int heat_ = 0, turns_left_ = 0, passed_ = 0;
  bool over_ = false, lost_ = false;
  std::vector<double> times_[2];
  double seconds_[2] = {0, 0};
  std::unique_ptr<Question> question_;
};

}  // namespace tonari::petsc
