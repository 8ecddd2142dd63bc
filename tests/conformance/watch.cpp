// SPDX-License-Identifier: BSD-3-Clause
#include "watch.hpp"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace conformance {
namespace {

// What a handler of signals may read.
std::array<char, 400> doing_now;

void say(const char* what) { (void)!write(STDERR_FILENO, what, std::strlen(what)); }

void end(int signal) {
  say("tonari_conformance: ");
  say(doing_now.data());
  say(signal == SIGALRM ? ": does not end\n" : ": the process crashes\n");
  _exit(signal == SIGALRM ? 3 : 4);
}

void handle_signals() {
  for (const int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) {
    struct sigaction action{};
    action.sa_handler = end;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

void watch(const std::string& doing, int patience) {
  static std::once_flag once;
  std::call_once(once, handle_signals);
  alarm(0);
  std::snprintf(doing_now.data(), doing_now.size(), "%s", doing.c_str());
  alarm(static_cast<unsigned>(2 * patience));
}

bool completes(MPI_Request& request, int patience, int& rc) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(patience);
  MPI_Status status;
  for (int done = 0; std::chrono::steady_clock::now() < end; sched_yield()) {
    rc = MPI_Test(&request, &done, &status);
    if (rc != MPI_SUCCESS || done) return true;
  }
  return false;
}

}  // namespace conformance
