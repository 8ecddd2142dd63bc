// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace tonari {
namespace {

TEST(Error, CarriesCodeAndSentence) {
  const Error e = test::error_of([] {
    fail(Errc::mismatch, "rank ", 3, " sends ", 8, " bytes, rank ", 4, " expects ",
         std::string("none"));
  });
  EXPECT_EQ(e.code(), Errc::mismatch);
  EXPECT_STREQ(e.what(), "rank 3 sends 8 bytes, rank 4 expects none");
}

// What streams do when they have no memory.
struct Swallowed {};
std::ostream& operator<<(std::ostream& out, Swallowed) {
  out.setstate(std::ios::badbit);
  return out;
}

TEST(Error, TextIsWholeOrNone) {
  EXPECT_THROW(text("store-and-forward/", Swallowed{}, 2), std::bad_alloc);
}

// They are the TONARI_ERR_ values of the C ABI.
TEST(Error, CodesAreFixed) {
  EXPECT_EQ(static_cast<int>(Errc::argument), 1);
  EXPECT_EQ(static_cast<int>(Errc::topology), 2);
  EXPECT_EQ(static_cast<int>(Errc::mismatch), 3);
  EXPECT_EQ(static_cast<int>(Errc::overflow), 4);
  EXPECT_EQ(static_cast<int>(Errc::buffers), 5);
  EXPECT_EQ(static_cast<int>(Errc::active), 6);
  EXPECT_EQ(static_cast<int>(Errc::algorithm), 7);
  EXPECT_EQ(static_cast<int>(Errc::memory), 8);
  EXPECT_EQ(static_cast<int>(Errc::mpi), 9);
  EXPECT_EQ(static_cast<int>(Errc::internal), 10);
  EXPECT_EQ(static_cast<int>(Errc::file), 11);
}

}  // namespace
}  // namespace tonari
