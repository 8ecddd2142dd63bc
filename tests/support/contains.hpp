// SPDX-License-Identifier: BSD-3-Clause
// What a text must say, shown where it does not.
#pragma once

#include <gtest/gtest.h>

#include <string>

#define EXPECT_CONTAINS(text, part)                          \
  EXPECT_NE(std::string(text).find(part), std::string::npos) \
      << "'" << (part) << "' is missing in: " << (text) << "\n"
