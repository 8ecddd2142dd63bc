// SPDX-License-Identifier: BSD-3-Clause
// Every way through shared memory is right in all orders that the language allows, and each memory
// order in its code is needed: weakened by one step, some scenario fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "explorer/orders.hpp"
#include "explorer/scenarios.hpp"

namespace tonari::explorer {
namespace {

struct Room {
  const char* name;
  std::vector<Scenario> (*scenarios)();
};
std::ostream& operator<<(std::ostream& out, const Room& room) { return out << room.name; }

class Protocol : public testing::TestWithParam<Room> {};

TEST_P(Protocol, IsRightHoweverRanksRun) {
  for (const Scenario& scenario : GetParam().scenarios()) {
    const Result result = explore(scenario.make);
    EXPECT_EQ(result.failure, "") << scenario.name;
    std::cout << scenario.name << ": " << result.states << " states, " << result.runs << " runs\n";
  }
}

// Stronger than the language needs, for a reason.
bool is_stronger_on_purpose(const OrderedLine& line) {
  // On x86 it empties the buffers of streaming stores, which the language does not know.
  return line.file.starts_with("src/memory/program_stores.hpp");
}

bool is_caught(const std::vector<Scenario>& scenarios) {
  return std::ranges::any_of(
      scenarios, [](const Scenario& scenario) { return !explore(scenario.make).failure.empty(); });
}

TEST_P(Protocol, NeedsEveryOrder) {
  const std::vector<Scenario> scenarios = GetParam().scenarios();
  forget_orders();
  ASSERT_FALSE(is_caught(scenarios));
  int mutants = 0;
  for (const OrderedLine& line : ordered_lines()) {
    if (!line.file.starts_with("src/") || is_stronger_on_purpose(line)) continue;
    for (const std::memory_order order : weaker(line.kind, line.order)) {
      const Weakened weakened(line, order);
      ++mutants;
      EXPECT_TRUE(is_caught(scenarios)) << line.file << ": " << line.text << "\nis as good with "
                                        << name(order) << " instead of " << name(line.order);
    }
  }
  EXPECT_GT(mutants, 1);
  std::cout << mutants << " mutants caught\n";
}

INSTANTIATE_TEST_SUITE_P(All, Protocol,
                         testing::Values(Room{"Cell", cell_scenarios},
                                         Room{"Ring", ring_scenarios}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tonari::explorer
