// SPDX-License-Identifier: BSD-3-Clause
// A made-up /proc and /sys.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tonari::test {

class MadeUpRoot : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "tonari-root-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root = name;
  }
  void TearDown() override { std::filesystem::remove_all(root); }
  void write(const std::string& name, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(root + name).parent_path());
    std::ofstream(root + name) << content;
  }

  std::string root;
};

}  // namespace tonari::test
