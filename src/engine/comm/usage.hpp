// SPDX-License-Identifier: BSD-3-Clause
// How often a request, or the one-shot calls of a kind, ran on this rank, what was sent, and how
// much time the program spent in that. Reading the clock costs a tenth of a short exchange. So
// after the first starts only some are timed, after intervals that vary: each stands for those that
// were not.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/checked.hpp"

namespace tonari {

class Usage {
 public:
  static constexpr std::uint64_t all_timed = 32;  // of the first starts

  explicit Usage(double (*clock)() = MPI_Wtime) : clock_(clock) {}

  // Counts a start. Returns how many starts its time stands for; 0: it is not to be timed. One
  // thread at a time.
  double start() {
    ++starts_;
    if (starts_ > all_timed && --until_next_ > 0) return 0;
    const double weight = starts_ > all_timed ? interval_ : 1;
    if (starts_ >= all_timed) choose_interval();
    return weight;
  }
  // Of the exchange that was started.
  void sends(std::uint64_t messages, Bytes bytes) {
    all_messages_ += messages, all_bytes_ += bytes;
    messages_ = std::max(messages_, messages), bytes_ = std::max<std::uint64_t>(bytes_, bytes);
  }
  // It is complete. Any thread.
  void took(double seconds, double weight) {
    constexpr auto relaxed = std::memory_order_relaxed;
    timed_.fetch_add(1, relaxed);
    seconds_.fetch_add(seconds * weight, relaxed), weight_.fetch_add(weight, relaxed);
  }
  double now() const { return clock_(); }

  std::uint64_t starts() const { return starts_; }
  std::uint64_t timed() const { return timed_.load(std::memory_order_relaxed); }
  std::uint64_t messages() const { return messages_; }  // the most in one exchange
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t all_messages() const { return all_messages_; }
  std::uint64_t all_bytes() const { return all_bytes_; }
  // Of all starts: an estimate.
  double seconds() const {
    const double weight = weight_.load(std::memory_order_relaxed);
    if (!(weight > 0)) return 0;
    return seconds_.load(std::memory_order_relaxed) / weight * static_cast<double>(starts_);
  }

 private:
  // From 1 to 31. A fixed interval could always meet the one step in so many in which a program
  // does something else.
  void choose_interval() {
    random_ = random_ * 1664525 + 1013904223;  // Numerical Recipes
    interval_ = std::max<std::uint32_t>(random_ >> 27, 1);
    until_next_ = interval_;
  }

  double (*clock_)();
  std::uint64_t starts_ = 0;
  std::uint64_t messages_ = 0, bytes_ = 0, all_messages_ = 0, all_bytes_ = 0;
  std::uint32_t random_ = 1, interval_ = 1, until_next_ = 1;
  std::atomic<std::uint64_t> timed_ = 0;
  std::atomic<double> seconds_ = 0, weight_ = 0;
};

}  // namespace tonari
