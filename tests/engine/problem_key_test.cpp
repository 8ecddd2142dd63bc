// SPDX-License-Identifier: BSD-3-Clause
// What is remembered as fastest holds for a problem and some settings.
#include <gtest/gtest.h>

#include "engine/tune/selector.hpp"
#include "select/offset_planner_registry.hpp"
#include "support/grids.hpp"

namespace tonari {
namespace {

TEST(ProblemKey, TellsSettingsApartThatAChoiceDependsOn) {
  OffsetPlannerRegistry planners(
      std::make_shared<const Neighborhood>(Neighborhood{test::torus({5}), {Vec{1}, Vec{-1}}}));
  const Problem problem{planners, 1, 2, Collective::alltoall, {{8, 8}, 8}};
  Settings settings;
  const std::string key = problem_key(problem, settings);
  settings.tune = Tune::measure, settings.progress_thread = true, settings.timeout = 1;
  EXPECT_EQ(problem_key(problem, settings), key);
  settings.ports = 2;
  EXPECT_EQ(problem_key(problem, settings), key + "|tonari_ports 2");
  settings.channel = "shared";
  EXPECT_EQ(problem_key(problem, settings), key + "|tonari_channel shared|tonari_ports 2");
}

}  // namespace
}  // namespace tonari
