// SPDX-License-Identifier: BSD-3-Clause
// One look at the environment finds the variables of rows.
#include "base/environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace tonari {
namespace {

constexpr Where calls = where::any_request | where::neighborhoods;
const Setting& tune = setting("TONARI_TUNE");

// Without what the environment of the tests has of them.
class VariablesTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const Setting& row : all_settings()) {
      if (const std::optional<std::string> value = in_environment(row))
        were_[row.variable] = *value;
      if (*row.variable) unsetenv(row.variable);
    }
  }
  void TearDown() override {
    for (const Setting& row : all_settings())
      if (*row.variable) unsetenv(row.variable);
    for (const auto& [variable, value] : were_) setenv(variable.c_str(), value.c_str(), 1);
  }

 private:
  std::map<std::string, std::string> were_;
};

TEST_F(VariablesTest, EachRowHasItsOwn) {
  for (const Setting& row : all_settings()) {
    if (!*row.variable) continue;
    setenv(row.variable, "some words", 1);
    const Variables all(where::everywhere);
    EXPECT_EQ(all.any(), row.member.read != nullptr) << row.variable;
    for (const Setting& other : all_settings())
      EXPECT_EQ(std::string(all.value(other) ? all.value(other) : ""),
                &other == &row ? "some words" : "")
          << row.variable << ' ' << name_of(other);
    unsetenv(row.variable);
  }
}

TEST_F(VariablesTest, OthersDoNotCount) {
  setenv("TONARI_BUILD", "build", 1);
  setenv("TONARI_TUN", "off", 1);
  setenv("TONARI_TUNES", "off", 1);
  setenv("ATONARI_TUNE", "off", 1);
  const Variables none(calls);
  EXPECT_FALSE(none.any());
  EXPECT_EQ(none.value(tune), nullptr);
  for (const char* name : {"TONARI_BUILD", "TONARI_TUN", "TONARI_TUNES", "ATONARI_TUNE"})
    unsetenv(name);
}

TEST_F(VariablesTest, WhatIsEmptyIsNotSet) {
  setenv("TONARI_TUNE", "", 1);
  const Variables none(calls);
  EXPECT_FALSE(none.any());
  EXPECT_EQ(none.value(tune), nullptr);
}

TEST_F(VariablesTest, OnlyWhatSuchCallsRead) {
  setenv("TONARI_HALO", "pack", 1);
  EXPECT_FALSE(Variables(calls).any());
  EXPECT_TRUE(Variables(where::grids).any());
}

}  // namespace
}  // namespace tonari
