// SPDX-License-Identifier: BSD-3-Clause
// Sees which call of the MPI lasts, by looking at the marks of all threads now and then.
#pragma once

#include <array>
#include <cstdint>

#include "memory/in_mpi.hpp"

namespace tonari {

class MpiCallsSeen {
 public:
  struct Lasting {
    const char* call = nullptr;  // null: none was under way at the look before, too
    double seconds = 0;          // since that look at least
  };
  // The one that has lasted longest. passed: seconds since the last look.
  Lasting look(double passed);

 private:
  struct Seen {
    std::uint64_t number = 0;  // of the call; 0: none
    double seconds = 0;
  };
  std::array<Seen, most_mpi_marks> seen_{};
};

}  // namespace tonari
