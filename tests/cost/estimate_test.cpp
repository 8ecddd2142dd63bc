// SPDX-License-Identifier: BSD-3-Clause
// The estimate beside the simulator.
#include "cost/estimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "cost/simulator.hpp"
#include "cost/variants.hpp"
#include "support/grids.hpp"

namespace tonari {
namespace {

using namespace cost;

TEST(Estimate, OrdersAsTheSimulatorDoes) {
  const LogGP machine;
  for (const char* pattern : {"moore:3:1", "moore:3:3", "star:3:1"})
    for (Collective collective : both)
      for (const ChannelCost& channel : {ChannelCost{}, ChannelCost{true, 0, true}}) {
        const std::vector<OffsetVariant> all = schedules(near(pattern, 16), collective, 6);
        for (std::uint64_t size = 1; size <= 256 << 10; size *= 4) {
          std::vector<double> simulated, estimated;
          for (const OffsetVariant& schedule : all) {
            const Plan plan = schedule.plan(0);
            simulated.push_back(simulate({&plan, 1}, blocks_of(size), machine, channel));
            estimated.push_back(estimate(schedule, static_cast<double>(size), machine, channel));
          }
          const auto where = [&] {
            return text(pattern, " ", name(collective), ", ", size, " bytes, typed ",
                        channel.typed);
          };
          for (std::size_t a = 0; a < all.size(); ++a)
            for (std::size_t b = 0; b < all.size(); ++b)
              if (2 * simulated[a] < simulated[b]) {
                EXPECT_LT(estimated[a], estimated[b])
                    << where() << ": " << all[a].label() << " and " << all[b].label();
              }
          const auto guess =
              std::min_element(estimated.begin(), estimated.end()) - estimated.begin();
          EXPECT_LE(simulated[guess], 1.5 * *std::min_element(simulated.begin(), simulated.end()))
              << where() << ": guessed " << all[guess].label();
        }
      }
}

TEST(Estimate, NothingToSendTakesNoTime) {
  const auto nobody = std::make_shared<const Neighborhood>(Neighborhood{test::torus({3}), {}});
  for (const OffsetVariant& schedule : schedules(nobody, Collective::alltoall))
    EXPECT_EQ(estimate(schedule, 8, {}), 0);
}

TEST(Estimate, IsWithinAFactorOfThreeOnRandomOffsets) {
  std::mt19937 random(5);
  for (int repeat = 0; repeat < 100; ++repeat) {
    const auto where = random_near(random);
    const Collective collective = both[random() % 2];
    const ChannelCost channel{random() % 2 == 0, 0, true};
    const std::uint64_t size = std::uint64_t{1} << random() % 19;
    for (const OffsetVariant& variant : schedules(where, collective, 6)) {
      const Plan plan = variant.plan(0);
      const double simulated = simulate({&plan, 1}, blocks_of(size), {}, channel);
      const double estimated = estimate(variant, static_cast<double>(size), {}, channel);
      EXPECT_LT(estimated, 3 * simulated) << variant.label() << ", repeat " << repeat;
      EXPECT_LT(simulated, 3 * estimated) << variant.label() << ", repeat " << repeat;
    }
  }
}

}  // namespace
}  // namespace tonari
