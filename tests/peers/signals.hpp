// SPDX-License-Identifier: BSD-3-Clause
// Ranks that may be killed and stopped: the launcher sees another process, which keeps the lines to
// it open, so it does not end the job when the rank dies. That process also sends the signals.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>

namespace tonari::test {

// What is done to the rank, as long as it lives; called once the rank says so.
using Deed = std::function<void(pid_t rank)>;

inline std::size_t reports_there() {
  const char* const folder = std::getenv("TONARI_PEERS_REPORTS");
  std::size_t found = 0;
  if (folder)
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++found;
  return found;
}

inline const char* first_in_environment(std::initializer_list<const char*> variables) {
  for (const char* variable : variables)
    if (const char* value = std::getenv(variable)) return value;
  return nullptr;
}

// Ranks as the launcher counts them; 0: it does not say.
inline std::size_t ranks_of_job() {
  const char* const value = first_in_environment({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
  return value ? std::strtoul(value, nullptr, 10) : 0;
}

// A rank that has ended without a report: by a signal, or with a status that is not 0. The one that
// was to die has been killed.
inline void report_end(pid_t process, int status) {
  const char* const folder = std::getenv("TONARI_PEERS_REPORTS");
  const char* const rank = first_in_environment({"OMPI_COMM_WORLD_RANK", "PMI_RANK"});
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (!folder || !rank || status == 0 || killed) return;
  const std::string path = std::string(folder) + "/" + rank;
  if (std::filesystem::exists(path)) return;
  std::ofstream(path) << "{\"rank\": " << rank << ", \"process\": " << process
                      << ", \"ended_by\": " << (WIFSIGNALED(status) ? WTERMSIG(status) : 0)
                      << ", \"status\": " << (WIFEXITED(status) ? WEXITSTATUS(status) : 0) << "}\n";
}

// Whoever has died is no reason to end the others: waits until they have reported.
inline void wait_for_reports() {
  const std::size_t others = ranks_of_job() - (ranks_of_job() > 0);
  for (int tenths = 0; tenths < 400 && (others == 0 || reports_there() < others); ++tenths) {
    if (others == 0 && tenths == 40) return;
    usleep(100'000);
  }
  usleep(200'000);  // until they have ended, too
}

// So long; or, where the test names a file, until that exists, for ten minutes at most.
inline void wait_for_go(int microseconds) {
  const char* const file = std::getenv("TONARI_PEERS_GO");
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::microseconds(file ? 600'000'000 : microseconds);
  // usleep may end early, by a signal
  while (std::chrono::steady_clock::now() < end && !(file && std::filesystem::exists(file)))
    usleep(10'000);
}

// Call this first of all. It returns in the process that is to be the rank; say_go() there, if
// ever, lets the other one begin with the deed.
class RankBesideAnother {
 public:
  explicit RankBesideAnother(const Deed& deed = nullptr) {
    if (pipe(go_) != 0) _exit(3);
    const pid_t rank = fork();
    if (rank == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(go_[0]);
      return;
    }
    close(go_[1]);
    signal(SIGUSR1, SIG_IGN);  // by which MPICH's launcher tells of a rank that ended early
    char word = 0;
    if (deed && read(go_[0], &word, 1) == 1) deed(rank);
    int status = 0;
    waitpid(rank, &status, 0);
    report_end(rank, status);
    if (status != 0) wait_for_reports();
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 0);
  }
  void say_go() const {
    if (write(go_[1], "!", 1) != 1) _exit(4);
  }

 private:
  int go_[2] = {-1, -1};
};

// Kills at a random time of so many microseconds.
inline Deed kill_within(std::uint64_t seed, int microseconds) {
  return [=](pid_t rank) {
    std::mt19937_64 random(seed);
    usleep(static_cast<useconds_t>(random() % static_cast<std::uint64_t>(microseconds)));
    kill(rank, SIGKILL);
  };
}

// Lets it go on, so long after it has stopped itself.
inline Deed resume_when_stopped(int microseconds) {
  return [=](pid_t rank) {
    siginfo_t stopped{};
    if (waitid(P_PID, static_cast<id_t>(rank), &stopped, WSTOPPED | WEXITED | WNOWAIT) != 0) return;
    wait_for_go(microseconds);
    kill(rank, SIGCONT);
  };
}

// Stops it at once, for so long.
inline Deed stop_for(int microseconds) {
  return [=](pid_t rank) {
    kill(rank, SIGSTOP);
    wait_for_go(microseconds);
    kill(rank, SIGCONT);
  };
}

// Stops it at random times and lets it go on, each a random time later, until it ends.
inline Deed stop_now_and_then(std::uint64_t seed, int apart, int longest) {
  return [=](pid_t rank) {
    std::mt19937_64 random(seed);
    const auto some = [&](int most) {
      return static_cast<useconds_t>(random() % static_cast<std::uint64_t>(most));
    };
    siginfo_t ended{};
    do {
      usleep(some(apart));
      kill(rank, SIGSTOP);
      usleep(some(longest));
      kill(rank, SIGCONT);
      ended.si_pid = 0;
    } while (waitid(P_PID, static_cast<id_t>(rank), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
             ended.si_pid == 0);
  };
}

}  // namespace tonari::test
