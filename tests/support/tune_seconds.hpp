// SPDX-License-Identifier: BSD-3-Clause
// The time that one init may spend on measuring (TONARI_TUNE_SECONDS), for as long as it lives.
// In other tests that is little (mpi_main.cpp).
#pragma once

#include <cstdlib>
#include <string>

namespace tonari::test {

class TuneSeconds {
 public:
  explicit TuneSeconds(const char* seconds) {
    if (const char* set = std::getenv(name)) before_ = set;
    setenv(name, seconds, 1);
  }
  ~TuneSeconds() {
    if (before_.empty())
      unsetenv(name);
    else
      setenv(name, before_.c_str(), 1);
  }
  TuneSeconds(const TuneSeconds&) = delete;
  TuneSeconds& operator=(const TuneSeconds&) = delete;

 private:
  static constexpr const char* name = "TONARI_TUNE_SECONDS";
  std::string before_;
};

}  // namespace tonari::test
