// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/crossover.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.hpp"
#include "cost/simulator.hpp"
#include "cost/variants.hpp"

namespace tonari {
namespace {

using namespace cost;

// Against linear, by simulating the sizes on both sides. Returns how many variants have one.
int expect_between(std::shared_ptr<const Neighborhood> where, const char* name) {
  const LogGP machine;
  const std::vector<OffsetVariant> all = schedules(where, Collective::alltoall);
  const Plan linear = all[0].plan(0);
  int between = 0;
  for (const OffsetVariant& schedule : all) {
    const Plan plan = schedule.plan(0);
    const std::int64_t size = crossover_bytes({&plan, 1}, {&linear, 1}, machine);
    const auto faster = [&](std::int64_t bytes) {
      return simulate({&plan, 1}, blocks_of(bytes), machine) <
             simulate({&linear, 1}, blocks_of(bytes), machine);
    };
    if (size <= 0) {
      EXPECT_EQ(faster(size == 0 ? 1 : 1 << 30), size == -1) << name << ", " << schedule.label();
      continue;
    }
    ++between;
    EXPECT_TRUE(faster(size - 1)) << name << ", " << schedule.label() << ", " << size;
    EXPECT_FALSE(faster(size)) << name << ", " << schedule.label() << ", " << size;
  }
  return between;
}

TEST(Crossover, IsWhereTheOrderChanges) {
  int between = 0;
  for (const char* pattern : {"moore:3:1", "moore:2:1", "octant:3", "moore:2:3"})
    between += expect_between(near(pattern, 9), pattern);
  EXPECT_GE(between, 4);
}

TEST(Crossover, IsWhereTheOrderChangesOnRandomOffsets) {
  std::mt19937 random(3);
  int between = 0;
  for (int repeat = 0; repeat < 100; ++repeat)
    between += expect_between(random_near(random), std::to_string(repeat).c_str());
  EXPECT_GE(between, 50);
}

TEST(Crossover, NeverAndAlways) {
  const std::vector<OffsetVariant> all = schedules(near("moore:3:1", 9), Collective::alltoall);
  const Plan linear = all[0].plan(0), torus = all[1].plan(0);
  EXPECT_EQ(crossover_bytes({&linear, 1}, {&linear, 1}, LogGP{}), 0) << "never faster than itself";
  LogGP free_copies;  // no bandwidth to lose
  free_copies.G = free_copies.copy_byte = 1e-30;
  EXPECT_EQ(crossover_bytes({&torus, 1}, {&linear, 1}, free_copies), -1);
}

}  // namespace
}  // namespace tonari
