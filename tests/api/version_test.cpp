// SPDX-License-Identifier: BSD-3-Clause
// The version of the library is that of the headers that it was made with.
#include <tonari/tonari.h>

#include <string>

#include "support/ok.hpp"

namespace {

TEST(Version, IsThatOfTheHeaders) {
  int major = -1, minor = -1, patch = -1;
  EXPECT_OK(tonari_version(&major, &minor, &patch));
  EXPECT_EQ(major, TONARI_VERSION_MAJOR);
  EXPECT_EQ(minor, TONARI_VERSION_MINOR);
  EXPECT_EQ(patch, TONARI_VERSION_PATCH);
  EXPECT_EQ(TONARI_VERSION_NUMBER, 10000 * major + 100 * minor + patch);
}

TEST(Version, EachPointerMayBeNull) {
  EXPECT_OK(tonari_version(nullptr, nullptr, nullptr));
  int patch = -1;
  EXPECT_OK(tonari_version(nullptr, nullptr, &patch));
  EXPECT_EQ(patch, TONARI_VERSION_PATCH);
}

TEST(Version, IsAWord) {
  EXPECT_EQ(tonari_version_string(), std::to_string(TONARI_VERSION_MAJOR) + "." +
                                         std::to_string(TONARI_VERSION_MINOR) + "." +
                                         std::to_string(TONARI_VERSION_PATCH));
}

}  // namespace
