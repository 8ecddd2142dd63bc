// SPDX-License-Identifier: BSD-3-Clause
// Text that is read and written is the same whatever locale the program has set.
#include <gtest/gtest.h>

#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

#include "base/classic.hpp"
#include "base/setting_table.hpp"
#include "support/comma_locale.hpp"
#include "support/errors.hpp"

namespace tonari {
namespace {

using test::CommaLocale;

// The locale is one that changes what streams do.
TEST(Locale, OfTheTestHasCommas) {
  const CommaLocale locale;
  std::ostringstream out;
  out << 1234567 << ' ' << 0.5;
  EXPECT_EQ(out.str(), "1.234.567 0,5");
}

TEST(Locale, DoesNotMatterToSentences) {
  const CommaLocale locale;
  EXPECT_EQ(text(1234567, " ", 1234.5, " ", std::setprecision(3), 0.125), "1234567 1234.5 0.125");
}

TEST(Locale, DoesNotMatterToSettings) {
  const CommaLocale locale;
  const Setting& timeout = setting("TONARI_TIMEOUT");
  EXPECT_EQ(read_seconds(timeout, "0.25"), 0.25);
  EXPECT_EQ(read_seconds(timeout, "+1e3"), 1000);
  for (const char* wrong : {"0,25", "1.000,5", "", "-1", "nan", "inf", "1 ", "0x1p3", "+-1"})
    EXPECT_NE(test::error_of([&] { (void)read_seconds(timeout, wrong); }).code(), Errc::success)
        << wrong;
  EXPECT_EQ(read_size(setting("TONARI_INPLACE_MEMORY"), "2MIB"), 2u << 20);
  EXPECT_EQ(read_size(setting("TONARI_INPLACE_MEMORY"), "1KiB"), 1024u);
}

TEST(Locale, DoesNotMatterToNumbers) {
  const CommaLocale locale;
  EXPECT_EQ(real_number("1.5"), 1.5);
  EXPECT_EQ(real_number("1,5"), std::nullopt);
  EXPECT_EQ(with_decimals(1234567.0625, 3), "1234567.062");
  EXPECT_EQ(with_decimals(-0.5, 9), "-0.500000000");
  EXPECT_EQ(with_decimals(std::numeric_limits<double>::max(), 9).size(), 319u);
  Classic<std::istringstream> in("1.5 1000000");
  double real = 0;
  int whole = 0;
  EXPECT_TRUE(in >> real >> whole);
  EXPECT_EQ(real, 1.5);
  EXPECT_EQ(whole, 1000000);
}

}  // namespace
}  // namespace tonari
