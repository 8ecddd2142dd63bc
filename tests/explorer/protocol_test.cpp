// SPDX-License-Identifier: BSD-3-Clause
// Every way through shared memory is right in all orders that the language allows, and each memory
// order in its code is needed: weakened by one step, some scenario fails.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <ostream>
#include <utility>

#include "explorer/orders.hpp"
#include "explorer/scenarios.hpp"

namespace tonari::explorer {
namespace {

struct Room {
  const char* name;
  std::vector<Scenario> (*scenarios)();
};
std::ostream& operator<<(std::ostream& out, const Room& room) { return out << room.name; }
const std::vector<Room> rooms{{"Cell", cell_scenarios},   {"Ring", ring_scenarios},
                              {"Board", board_scenarios}, {"Ghosts", turn_scenarios},
                              {"Swap", swap_scenarios},   {"Inbox", link_scenarios}};

class Protocol : public testing::TestWithParam<Room> {};

std::vector<Scenario> scenarios(const Room& room, bool that_take_long) {
  std::vector<Scenario> all = room.scenarios();
  std::erase_if(all, [&](const Scenario& each) { return each.takes_long != that_take_long; });
  return all;
}

struct Explored {
  Result result;
  std::vector<OrderedLine> lines;
};

const Explored& explored(const Scenario& scenario) {
  static std::map<std::string, Explored> known;
  const auto [found, fresh] = known.try_emplace(scenario.name);
  if (!fresh) return found->second;
  forget_orders();
  const Result result = explore(scenario.make);
  std::cout << scenario.name << ": " << result.states << " states, " << result.runs << " runs\n";
  return found->second = {result, ordered_lines()};
}

void expect_right(const std::vector<Scenario>& scenarios) {
  for (const Scenario& each : scenarios)
    EXPECT_EQ(explored(each).result.failure, "") << "in " << each.name;
}

TEST_P(Protocol, IsRightHoweverRanksRun) { expect_right(scenarios(GetParam(), false)); }

TEST(ProtocolAtLength, IsRightHoweverRanksRun) {
  for (const Room& room : rooms) expect_right(scenarios(room, true));
}

// By line: the scenarios that run it.
using Users = std::map<std::pair<std::string, Kind>, std::vector<Scenario>>;

Users users_of_lines(std::map<std::pair<std::string, Kind>, OrderedLine>& lines) {
  Users users;
  for (const Room& room : rooms)
    for (const Scenario& scenario : scenarios(room, false)) {
      for (const OrderedLine& line : explored(scenario).lines) {
        if (!line.file.starts_with("src/")) continue;
        const std::pair key(line.file, line.kind);
        OrderedLine& known = lines.try_emplace(key, line).first->second;
        known.sites.insert(known.sites.end(), line.sites.begin(), line.sites.end());
        users[key].push_back(scenario);
      }
    }
  return users;
}

std::string catcher(const std::vector<Scenario>& scenarios) {
  for (const Scenario& scenario : scenarios)
    if (!explore(scenario.make).failure.empty()) return scenario.name;
  return "";
}

TEST(Orders, AllAreNeeded) {
  std::map<std::pair<std::string, Kind>, OrderedLine> lines;
  const Users users = users_of_lines(lines);
  if (lines.empty()) GTEST_SKIP() << "there is no addr2line to tell the lines of orders";
  std::size_t mutants = 0;
  for (const auto& [key, line] : lines)
    for (const std::memory_order order : weaker(line.kind, line.order)) {
      const Weakened weakened(line, order);
      const std::string caught = catcher(users.at(key));
      ++mutants;
      EXPECT_NE(caught, "") << line.file << ": " << line.text << "\nis as good with " << name(order)
                            << " instead of " << name(line.order);
      std::cout << line.file << ' ' << name(line.order) << " -> " << name(order) << ": " << caught
                << '\n';
    }
  EXPECT_GE(mutants, 25u);
}

INSTANTIATE_TEST_SUITE_P(All, Protocol, testing::ValuesIn(rooms),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tonari::explorer
