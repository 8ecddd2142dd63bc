// SPDX-License-Identifier: BSD-3-Clause
// The error a piece of code throws, to look at code and sentence.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"

namespace tonari::test {

template <class F>
Error error_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  return Error(Errc::success, "no error was thrown");
}

inline void expect_sentence(const Error& error, Errc code, const std::vector<std::string>& parts) {
  EXPECT_EQ(error.code(), code) << error.what();
  for (const std::string& part : parts)
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
        << error.what() << "\nlacks " << part;
}

}  // namespace tonari::test
