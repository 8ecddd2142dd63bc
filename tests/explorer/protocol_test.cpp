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

// Files whose orders no scenario can reach, and why. Sparse exchanges have none of their own: they
// go by boards and rings.
const std::map<std::string, const char*> left_out{
    {"src/channels/onesided/remote_words.hpp", "words of windows: the MPI stores and loads them"},
    {"src/channels/streams/mpi_stream.cpp", "threads of one rank: api/hops_test.cpp"},
    {"src/engine/wait/in_flight.cpp",
     "threads of one rank, for ThreadSanitizer: engine.in_flight.tsan"},
    {"src/engine/wait/agree.cpp", "threads of one rank: engine/threads_test.cpp"},
    {"src/engine/comm/finding.cpp", "threads of one rank: engine/threads_test.cpp"},
    {"src/device/simulated_work.cpp",
     "flags of simulated devices, by one thread of each process: packing/packed_orders_test.cpp"},
    {"src/memory/gpu_memory.cpp", "threads of one rank: api/gpu_memory_test.cpp"},
    {"src/memory/in_mpi.cpp", "marks that one thread of the rank reads: mpi_calls_seen_test.cpp"},
    {"src/memory/in_mpi.hpp", "marks that one thread of the rank reads: mpi_calls_seen_test.cpp"},
    {"src/memory/mpi_calls_seen.cpp", "that thread: memory/mpi_calls_seen_test.cpp"},
    {"src/preload/attribute.cpp", "threads of a program that was built without tonari"},
    {"src/watch/members.cpp", "threads of a program that was built without tonari"}};

std::string file_of(const std::string& place) { return place.substr(0, place.rfind(':')); }

using Mutants = std::map<std::string, std::size_t>;  // how many, by place

TEST(Orders, AreExploredOrLeftOutByName) {
  std::map<std::pair<std::string, Kind>, OrderedLine> lines;
  users_of_lines(lines);
  if (lines.empty()) GTEST_SKIP() << "there is no addr2line to tell the lines of orders";
  Mutants reached, written = mutants_in_sources();
  for (const auto& [key, line] : lines)
    if (const std::size_t count = weaker(line.kind, line.order).size()) reached[line.file] += count;
  for (const auto& [file, why] : left_out)
    EXPECT_GT(std::erase_if(written, [&](const auto& one) { return file_of(one.first) == file; }),
              0u)
        << file << " has no orders any more";
  for (const auto& [place, count] : written)
    EXPECT_EQ(reached[place], count) << place << ": so many orders are reached by scenarios";
  for (const auto& [place, count] : reached)
    EXPECT_TRUE(written.contains(place)) << place << " does not name its order";
}

TEST(Orders, AllAreNeeded) {
  std::map<std::pair<std::string, Kind>, OrderedLine> lines;
  const Users users = users_of_lines(lines);
  if (lines.empty()) GTEST_SKIP() << "there is no addr2line to tell the lines of orders";
  std::size_t mutants = 0, orders = 0;
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
  for (const auto& [place, count] : mutants_in_sources())
    if (!left_out.contains(file_of(place))) orders += count;
  EXPECT_EQ(mutants, orders);
}

INSTANTIATE_TEST_SUITE_P(All, Protocol, testing::ValuesIn(rooms),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tonari::explorer
