// SPDX-License-Identifier: BSD-3-Clause
// Waits for memory to change in the way that suits the machine: ranks spin while each has a core.
// Where ranks outnumber cores, they yield and later sleep.
#pragma once

#include <array>
#include <cstdint>

namespace tonari {

// The processors that this process may run on, as bits.
using Cpus = std::array<std::uint64_t, 16>;
Cpus allowed_cpus();

// The number of the one that this thread runs on now, from 1; 0 if the system does not say.
std::uint64_t current_core();

struct WaitPolicy {
  bool crowded = false;  // ranks outnumber cores: a rank that spins keeps others from working
  // after waiting this many seconds, and each time again, see whether a rank has died
  double look_after = 10;
  // when crowded, looks before the core is given away: as many as cost less than giving it away
  std::uint32_t looks = 4;
};

// The most ranks that take turns on one processor, if the system spreads them evenly; 1: each has
// its own. `all` has the processors that any rank of the node may run on. Where none is known, they
// are taken to be too few.
int ranks_per_processor(int ranks, const Cpus& all);
inline bool is_crowded(int ranks, const Cpus& all) { return ranks_per_processor(ranks, all) > 1; }

// Lets others run on this thread's core, for callers that will look again soon. It yields; while
// yields turn out to take as long as a busy process's time slice, it sleeps for moments instead.
// Returns whether this thread had the core back soon, and has not slept.
bool give_core_away();
std::uint64_t naps_taken();  // how often this thread has slept so; for tests

// One wait, which begins with the first look that finds nothing.
class Wait {
 public:
  explicit Wait(const WaitPolicy& policy) : policy_(policy), crowded_(policy.crowded) {}

  enum class Then : std::uint8_t {
    look,      // look again
    progress,  // let the MPI proceed, too, then look again
    tell,      // the wait has become long: tell of it, then look again; about once a second
    check,     // see whether the ranks waited for live, and tell, then look again
  };
  // Call this after a look that found nothing. It spins for a moment, gives the core away, or
  // sleeps for at most a sixteenth of the wait so far and 0.2 ms. Unless crowded, the first
  // `patient` calls make no system call, and for 50 us it keeps the core. Where waits have ended
  // because another rank ran on this core, it waits as if crowded. It allocates nothing.
  // Without `may_sleep` it gives the core away instead, for callers whose looks let the MPI
  // proceed.
  Then idle(bool may_sleep = true);
  // Call this when something was found; the next idle() begins anew.
  void reset() {
    if (others_ran_ || progressed_) [[unlikely]]
      found_after_others();
    *this = Wait(policy_);
  }
  // The seconds from the first idle() that read the clock until idle() returned tell or check.
  double waited() const { return checked_ - since_ + told_ * tell_every; }

  static constexpr int patient = 256;
  static constexpr double tell_every = 1;  // seconds

 private:
  void found_after_others();

  WaitPolicy policy_;
  bool crowded_;
  bool others_ran_ = false;  // others ran on this core during the last call
  bool progressed_ = false;  // the last call let the MPI proceed
  std::uint32_t calls_ = 0;
  // one word, so that one store sets both; whether it has waited so long that a system call no
  // longer matters, and how often it has told since the last check
  std::uint32_t sleeps_ : 1 = 0, told_ : 31 = 0;
  double since_ = 0, checked_ = 0;  // steady clock, from the first idle() that read it
};

// The same for programs that wait by testing: call it after each test that found nothing.
class IdleTests {
 public:
  Wait::Then idle(const WaitPolicy& policy);
  void reset() { tests_ = 0; }
  double waited() const { return checked_ - since_ + told_ * Wait::tell_every; }

 private:
  std::uint32_t tests_ = 0, told_ = 0;
  double since_ = 0, checked_ = 0;
};

}  // namespace tonari
