// SPDX-License-Identifier: BSD-3-Clause
// What TONARI_SHM_DIR names.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace tonari::test {

// A directory of its own, which must be empty at the end.
class InShmDirectory : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = "/dev/shm/tonari-test-XXXXXX";
    if (!mkdtemp(name.data())) GTEST_SKIP() << "no directory in /dev/shm";
    directory = name;
    setenv("TONARI_SHM_DIR", directory.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TONARI_SHM_DIR");
    if (directory.empty()) return;
    EXPECT_EQ(rmdir(directory.c_str()), 0) << "something was left in " << directory;
  }
  bool empty() const {
    return std::filesystem::directory_iterator(directory) == std::filesystem::directory_iterator();
  }

  std::string directory;
};

inline std::uint64_t free_bytes(const std::string& directory) {
  struct statvfs room{};
  EXPECT_EQ(statvfs(directory.c_str(), &room), 0);
  return std::uint64_t{room.f_bavail} * room.f_frsize;
}

// A tmpfs of 20 MiB that only this process, and those that it forks, see there.
inline bool mount_20_mib(const std::string& directory) {
  return unshare(CLONE_NEWNS) == 0 &&
         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", directory.c_str(), "tmpfs", 0, "size=20m") == 0;
}

}  // namespace tonari::test
