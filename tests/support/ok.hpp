// Calls of tonari's that must succeed; where one does not, its sentence is shown.
#pragma once

#include <gtest/gtest.h>
#include <tonari/tonari.h>

#define EXPECT_OK(...) EXPECT_EQ((__VA_ARGS__), TONARI_SUCCESS) << tonari_last_error()
#define ASSERT_OK(...) ASSERT_EQ((__VA_ARGS__), TONARI_SUCCESS) << tonari_last_error()
