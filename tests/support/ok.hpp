// SPDX-License-Identifier: BSD-3-Clause
// Calls of tonari's that must succeed; where one does not, its sentence is shown. And what the
// sentence of one that fails must say.
#pragma once

#include <gtest/gtest.h>
#include <tonari/tonari.h>

#include "support/contains.hpp"

#define EXPECT_OK(...) EXPECT_EQ((__VA_ARGS__), TONARI_SUCCESS) << tonari_last_error()
#define ASSERT_OK(...) ASSERT_EQ((__VA_ARGS__), TONARI_SUCCESS) << tonari_last_error()
#define EXPECT_SAID(part) EXPECT_CONTAINS(tonari_last_error(), part)

namespace tonari::test {

// The code of what fails first.
inline int start_and_wait(tonari_request request) {
  const int code = tonari_start(request);
  return code == TONARI_SUCCESS ? tonari_wait(request) : code;
}

}  // namespace tonari::test
