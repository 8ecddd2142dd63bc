// SPDX-License-Identifier: BSD-3-Clause
// A cache directory that knows the machine and nothing else, for as long as it lives.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/oracle.hpp"
#include "support/tune_seconds.hpp"

namespace tonari::test {

class FreshWisdom {
 public:
  // Collective. seconds: TONARI_TUNE_SECONDS.
  explicit FreshWisdom(const char* seconds) : time_(seconds) {
    if (const char* set = std::getenv("TONARI_CACHE_DIR")) before_ = set;
    char name[64] = "";
    if (world_rank() == 0) {
      const std::string pattern =
          (std::filesystem::temp_directory_path() / "tonari-wisdom-XXXXXX").string();
      EXPECT_LT(pattern.size(), sizeof name);
      pattern.copy(name, sizeof name - 1);
      EXPECT_NE(mkdtemp(name), nullptr);
      // What is known of this machine comes along: measuring that is not the matter here.
      std::error_code ignored;
      if (!before_.empty())
        std::filesystem::copy_file(before_ + "/machines", std::string(name) + "/machines", ignored);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    directory_ = name;
    setenv("TONARI_CACHE_DIR", name, 1);
  }
  ~FreshWisdom() {
    if (before_.empty())
      unsetenv("TONARI_CACHE_DIR");
    else
      setenv("TONARI_CACHE_DIR", before_.c_str(), 1);
    if (world_rank() == 0) std::filesystem::remove_all(directory_);
  }
  FreshWisdom(const FreshWisdom&) = delete;
  FreshWisdom& operator=(const FreshWisdom&) = delete;
  const std::string& directory() const { return directory_; }

 private:
  TuneSeconds time_;
  std::string directory_, before_;
};

}  // namespace tonari::test
