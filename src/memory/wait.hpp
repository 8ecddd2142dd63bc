// Waiting for memory to change, as it suits the machine: spin while every rank has a core, yield
// and later sleep where ranks outnumber cores.
#pragma once

#include <array>
#include <cstdint>

namespace tonari {

// The processors that this process may run on, as bits.
using Cpus = std::array<std::uint64_t, 16>;
Cpus allowed_cpus();

struct WaitPolicy {
  bool crowded = false;  // ranks outnumber cores: a rank that spins keeps others from working
  // seconds of waiting after which to see whether a rank has died; then again each time
  double look_after = 10;
  // when crowded, before the core is given away: as many as cost less than that
  std::uint32_t looks = 4;
};

// all: the processors that any rank of the node may run on.
bool is_crowded(int ranks, const Cpus& all);

// One wait, from the first look that found nothing on.
class Wait {
 public:
  explicit Wait(const WaitPolicy& policy) : policy_(policy) {}

  enum class Then : std::uint8_t {
    look,      // look again
    progress,  // let the MPI proceed, too, then look again
    check,     // see whether those that are waited for live, then look again
  };
  // After a look that found nothing. Spins for a moment, gives the core away, or sleeps: at most a
  // sixteenth of what was waited so far, and at most 0.2 ms. No system call in the first `patient`
  // calls unless it is crowded. Allocates nothing. may_sleep: else it gives the core away instead,
  // for those whose looks are what the MPI proceeds by.
  Then idle(bool may_sleep = true);
  // Something was found: the next idle() begins anew.
  void reset() { *this = Wait(policy_); }

  static constexpr int patient = 256;

 private:
  WaitPolicy policy_;
  std::uint32_t calls_ = 0;
  bool sleeps_ = false;             // has waited so long that a system call no longer matters
  double since_ = 0, checked_ = 0;  // steady clock, from the first time that it was looked at
};

// The same for programs that wait by testing again and again: after each test that found nothing.
class IdleTests {
 public:
  Wait::Then idle(const WaitPolicy& policy);
  void reset() { tests_ = 0; }

 private:
  std::uint32_t tests_ = 0;
  double since_ = 0;
};

}  // namespace tonari
