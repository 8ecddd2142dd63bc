// SPDX-License-Identifier: BSD-3-Clause
// After how many one-shot calls the ranks of a neighborhood connect that is made while this lives.
// In other tests they connect in the first call (mpi_main.cpp).
#pragma once

#include <cstdlib>

namespace tonari::test {

class ConnectAfter {
 public:
  explicit ConnectAfter(const char* calls) { setenv("TONARI_CONNECT_AFTER", calls, 1); }
  ~ConnectAfter() { setenv("TONARI_CONNECT_AFTER", "0", 1); }
  ConnectAfter(const ConnectAfter&) = delete;
  ConnectAfter& operator=(const ConnectAfter&) = delete;
};

}  // namespace tonari::test
