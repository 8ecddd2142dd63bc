// SPDX-License-Identifier: BSD-3-Clause
#include "select/break_even.hpp"

#include <gtest/gtest.h>

namespace {

using tonari::break_even;

TEST(BreakEven, IsInitDividedByWhatAnExchangeSaves) {
  EXPECT_EQ(break_even(0.5, {3e-6, 5e-6}),
            "break-even: after 250000 exchanges (init took 0.5 s, each saves 2 us over MPI's own "
            "collective)\n");
  EXPECT_EQ(break_even(0.001, {1e-3, 3e-3}),
            "break-even: after 1 exchange (init took 0.001 s, each saves 2e+03 us over MPI's own "
            "collective)\n");
}

TEST(BreakEven, RoundsUp) {
  EXPECT_TRUE(break_even(2.5, {1, 2}).starts_with("break-even: after 3 exchanges "));
  EXPECT_TRUE(break_even(1e9, {1, 1 + 1e-15}).starts_with("break-even: after 1000000000000000 "));
}

TEST(BreakEven, IsNeverWhereNativeIsAsFast) {
  const char* const never = "break-even: never, MPI's own collective takes no longer\n";
  EXPECT_EQ(break_even(0.5, {5e-6, 5e-6}), never) << "it won itself";
  EXPECT_EQ(break_even(0.5, {5e-6, 4e-6}), never);
}

TEST(BreakEven, IsUnknownWhereNativeWasNotMeasured) {
  const char* const unknown = "break-even: unknown, MPI's own collective was not measured\n";
  EXPECT_EQ(break_even(0.5, {5e-6, 0}), unknown);
  EXPECT_EQ(break_even(0.5, {}), unknown);
}

}  // namespace
