// SPDX-License-Identifier: BSD-3-Clause
// Tells how much memory this process could still fill. The system promises more than it has and
// later kills processes, so a caller with large needs looks first.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace tonari {

// The least of what the kernel reports for the machine (MemAvailable) and for the control groups of
// this process (version 1 and 2), in bytes. Without a report it is the greatest number. `root`
// precedes /proc and /sys in all names, for tests.
std::uint64_t available_memory(const std::string& root = "");

// Tells whether so many bytes are surely available. available_memory() takes 0.1 ms, so its answer
// serves for a second, until a 1,024th of it has been asked for: the ranks of a node do not see
// what the others are about to take. Threads may ask at once.
class Allowance {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Allowance(std::string root = "") : root_(std::move(root)) {}
  bool covers(std::uint64_t bytes, Clock::time_point now = Clock::now());

 private:
  std::string root_;
  std::mutex mutex_;
  std::optional<Clock::time_point> asked_;
  std::uint64_t left_ = 0;
};

// Bytes that a directory's file system has free for this user; the greatest number where it does
// not say.
std::uint64_t free_in(const std::string& directory);

// The size that a file of this process may reach (RLIMIT_FSIZE, also in memory); the greatest
// number without a limit. Ask this first: exceeding the limit raises a signal that ends the
// process, and a library must not handle signals.
std::uint64_t file_limit();

}  // namespace tonari
