// SPDX-License-Identifier: BSD-3-Clause
// What `tonari run` tells of a program: one record for each place that calls. With the variable
// TONARI_RUN_REPORT, the name of a folder, each process writes its records there when it ends.
// Without it, nothing is recorded.
#pragma once

#include <cstdint>

#include "preload/dispatch.hpp"

namespace tonari::preload {

struct SiteRecord {
  const char* call = "";  // MPI's name
  const char* why = "";   // what decided who did the last call
  std::uint64_t calls = 0, through_tonari = 0;
  std::uint64_t bytes = 0;  // sent by this rank in all calls
  // By Backend: how many took so long. First calls on communicators are apart.
  std::uint64_t timed[2] = {0, 0}, setups = 0;
  double seconds[2] = {0.0, 0.0}, setup_seconds = 0.0;
};

// What one call was.
struct CallTold {
  const char* call;
  const void* site;  // an address in the program
  Backend backend;   // who did it
  bool first;        // it connected its communicator's neighbors
  std::uint64_t bytes;
  double seconds;
  const char* why;
};

bool recording();

// This process calls the MPI: it writes its records when it ends, even if there are none.
void expect_records();

// Without memory the call is lost.
void record_call(const CallTold& told) noexcept;

}  // namespace tonari::preload
