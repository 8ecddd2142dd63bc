// SPDX-License-Identifier: BSD-3-Clause
#include "memory/wait.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>
#include <vector>

#include "memory/naps.hpp"

namespace tonari {
namespace {

constexpr double spin_at_most = 0.02, spin_when_crowded = 0.002;  // seconds
// From then on a wait gives the core away to whoever else wants it. That costs less than a
// hundredth of the wait where nobody does, and elsewhere the awaited rank may be the one.
constexpr double keep_core = 50e-6;
constexpr double sleep_at_most = 0.0002, part_to_sleep = 1. / 16;
// calls between two calls of progress, which takes far longer than a look
constexpr std::uint32_t round = 64, crowded_round = 8;

// Tells the core that this loop only looks, so the core's other thread gets more of it, and leaving
// the loop costs less.
void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  asm volatile("yield" ::: "memory");
#elif defined(__powerpc64__)
  asm volatile("or 27,27,27" ::: "memory");
#else
  asm volatile("" ::: "memory");
#endif
}

double now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void sleep_for(double seconds) {
  const timespec t{0, static_cast<long>(seconds * 1e9)};
  ::nanosleep(&t, nullptr);  // a signal may end it early
}

constexpr double nap = 50e-6;  // seconds
constinit thread_local Naps naps;

// How often other threads have run on this one's core since it last waited for something by itself.
long interruptions() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

// Whether another rank shares this thread's core, although there are cores enough: the system may
// put both on one. Then a yield lets it do what this thread waits for.
class Sharing {
 public:
  bool seen() const { return seen_ == enough; }
  // Gives the core away; returns whether others ran meanwhile. Asking costs as much as the yield,
  // so where that is known, few ask.
  // A long yield does not count: a process that is only busy had the core, and no rank.
  bool yield() {
    const bool asks = !seen() || ++unasked_ % ask_every == 0;
    const long before = asks ? interruptions() : 0;
    const bool back_soon = give_core_away();
    const bool others = back_soon && asks && interruptions() > before;
    alone_ = others ? 0 : alone_ + asks;
    if (!back_soon || alone_ == enough) seen_ = alone_ = 0;
    return others;
  }
  // The MPI may give the core away, too, when it is let proceed: between these two.
  void before_progress() { before_ = interruptions(); }
  bool after_progress() const { return interruptions() > before_; }
  // What was waited for was there right after others had run.
  void found() { seen_ = std::min(seen_ + 1, enough); }

 private:
  static constexpr std::uint32_t enough = 3, ask_every = 16;
  std::uint32_t seen_ = 0, alone_ = 0, unasked_ = 0;
  long before_ = 0;
};
constinit thread_local Sharing sharing;

}  // namespace

bool give_core_away() {
  const double before = now();
  if (naps.take()) {
    sleep_for(nap);
    naps.slept(now() - before);
    return false;
  }
  ::sched_yield();
  return !naps.yielded(now() - before);
}

std::uint64_t naps_taken() { return naps.taken(); }

void Wait::found_after_others() {
  if (others_ran_ || sharing.after_progress()) sharing.found();
}

Cpus allowed_cpus() {
  Cpus cpus{};
  // The system refuses a mask that is shorter than the machine's.
  for (std::size_t words = cpus.size(); words <= 4096; words *= 2) {
    std::vector<std::uint64_t> mask(words);
    if (::sched_getaffinity(0, words * sizeof(std::uint64_t),
                            reinterpret_cast<cpu_set_t*>(mask.data())) == 0) {
      // The bits of larger machines fold, so there may seem to be fewer processors than there are,
      // but never none.
      for (std::size_t i = 0; i < words; ++i) cpus[i % cpus.size()] |= mask[i];
      break;
    }
    if (errno != EINVAL) break;
  }
  return cpus;
}

std::uint64_t current_core() { return static_cast<std::uint64_t>(::sched_getcpu() + 1); }

int ranks_per_processor(int ranks, const Cpus& all) {
  int processors = 0;
  for (std::uint64_t word : all) processors += std::popcount(word);
  if (processors == 0) return std::max(2, ranks);
  return std::max(1, (ranks + processors - 1) / processors);
}

Wait::Then Wait::idle(bool may_sleep) {
  const std::uint32_t call = ++calls_;
  others_ran_ = std::exchange(progressed_, false) && sharing.after_progress();
  relax();
  if (call == 1 && !crowded_) crowded_ = sharing.seen();
  if (call <= (crowded_ ? policy_.looks : patient)) return Then::look;

  const bool may_block = crowded_ || sleeps_;
  const std::uint32_t turn = call % (may_block ? crowded_round : round);
  if (turn == 0) {
    if (!crowded_) progressed_ = true, sharing.before_progress();
    return Then::progress;
  }
  // reading the clock costs as much as several looks
  if (!may_block && turn != round / 2) return Then::look;

  const double time = now();
  if (since_ == 0) since_ = checked_ = time;
  const double waited = time - since_;
  sleeps_ = waited > (crowded_ ? spin_when_crowded : spin_at_most);
  if (time - checked_ >= policy_.look_after) {
    checked_ = time, told_ = 0;
    return Then::check;
  }
  if (time - checked_ >= (told_ + 1) * tell_every) {
    ++told_;
    return Then::tell;
  }
  if (sleeps_ && may_sleep)
    sleep_for(std::min(waited * part_to_sleep, sleep_at_most));
  else if (may_block || waited > keep_core)
    others_ran_ = policy_.crowded ? (give_core_away(), false) : sharing.yield();
  return Then::look;
}

Wait::Then IdleTests::idle(const WaitPolicy& policy) {
  // where processes outnumber cores by far, a test that gives the core away takes many milliseconds
  constexpr std::uint32_t progress_every = 16, look_every = 32;
  if (policy.crowded) give_core_away();
  if (++tests_ % progress_every != 0) return Wait::Then::look;
  if (tests_ % look_every != 0) return Wait::Then::progress;
  const double time = now();
  if (tests_ == look_every) since_ = checked_ = time, told_ = 0;
  if (time - checked_ >= policy.look_after) {
    checked_ = time, told_ = 0;
    return Wait::Then::check;
  }
  if (time - checked_ < (told_ + 1) * Wait::tell_every) return Wait::Then::progress;
  ++told_;
  return Wait::Then::tell;
}

}  // namespace tonari
