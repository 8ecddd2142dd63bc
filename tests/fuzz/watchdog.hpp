// SPDX-License-Identifier: BSD-3-Clause
// Ends the process, with one sentence, when a case takes too long or crashes. The launcher then
// ends the others.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

namespace tonari::fuzz {

// One rank says it: where several want to, the launcher ends the others before they do.
[[noreturn]] inline void end_with(const std::string& sentence, int rank) {
  sleep(rank == 0 ? 0 : static_cast<unsigned>(rank + 1));
  const std::string line = sentence + "\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
  _exit(1);
}

class Watchdog {
 public:
  Watchdog(double patience, int rank) : patience_(patience), rank_(rank) {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) ::signal(signal, crashed);
  }
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // From now on this is what runs.
  void watch(const std::string& what) {
    const std::lock_guard lock(mutex_);
    what_ = what;
    since_ = std::chrono::steady_clock::now();
    std::strncpy(crash_.data(), (what + " crashed\n").c_str(), crash_.size() - 1);
  }

 private:
  static void crashed(int signal) {
    [[maybe_unused]] const auto written =
        write(STDERR_FILENO, crash_.data(), strlen(crash_.data()));
    ::signal(signal, SIG_DFL);
    raise(signal);
  }
  void guard() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::milliseconds(200), [this] { return done_; }))
      if (std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count() >
          patience_)
        end_with(what_ + " has not come to its end", rank_);
  }

  double patience_;  // seconds
  int rank_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::string what_ = "the start";
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  static inline std::array<char, 512> crash_{};
  std::thread thread_{[this] { guard(); }};  // last: it uses the others
};

}  // namespace tonari::fuzz
