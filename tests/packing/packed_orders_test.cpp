// SPDX-License-Identifier: BSD-3-Clause
// Packed exchanges of several ranks in every order that streams allow: all is right, and nothing
// that orders it can be left out. Also between processes.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "device/program.hpp"
#include "memory/child.hpp"
#include "packing/exchange_world.hpp"
#include "packing/offers_by_line.hpp"
#include "packing/packed_exchange.hpp"
#include "support/errors.hpp"
#include "support/random_cases.hpp"

namespace tonari::test {
namespace {

std::vector<WorldShape> shapes() {
  return {own_neighbors(), two_neighbors(), one_way(),      passing_around(),
          relaying(),      joining(),       passing_twice()};
}

// Cases on one world, the last of which ends it. Returns what is wrong.
std::string played(const WorldShape& shape, const SimulatedOptions& options, std::uint64_t first,
                   std::uint64_t cases, const Mutant& mutant = {}) {
  std::uint64_t seed = first;
  try {
    ExchangeWorld world(shape, options, seed, mutant);
    world.connect(world.offers());
    for (; seed < first + cases - 1 && world.wrong() == 0; ++seed) world.run(seed);
    if (world.wrong() == 0) world.finish(seed);
    return world.wrong() ? text(world.wrong(), " wrong words until seed ", seed) : "";
  } catch (const std::exception& error) {
    return text(error.what(), " (seed ", seed, ")");
  }
}

constexpr std::uint64_t cases_of_a_world = 100;

void play_all(std::uint64_t cases) {
  for (const WorldShape& shape : shapes())
    for (std::uint64_t seed = 0; seed < random_cases(cases); seed += cases_of_a_world)
      ASSERT_EQ(played(shape, alone(), seed, cases_of_a_world), "") << shape.name;
}

TEST(PackedExchange, EveryReaderSeesWhatWasSentWhateverTheOrder) { play_all(1'000); }

// 100,000 in `make test-long`, of all shapes together.
TEST(PackedExchange, ManyThousandCasesAreRight) { play_all(14'300); }

// ---- what orders is needed

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

// So many calls that order something does a source have.
std::size_t ordering_calls_in(const std::string& source_file) {
  std::ifstream file(std::string(TONARI_GOLDENS) + "/../../src/packing/" + source_file);
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  std::size_t count = 0;
  for (const char* call :
       {"write_flags", "wait_flags", "record", "wait_event", "synchronize", "query"})
    count += occurrences(source, text("device_.", call, "("));
  return count;
}

std::vector<OrderingCall> calls_of(const WorldShape& shape) {
  ExchangeWorld world(shape, alone(), 0);
  world.connect(world.offers());
  for (std::uint64_t seed = 0; seed < 10; ++seed) world.run(seed);
  world.finish(10);
  return world.calls();
}

// Whether one of the first worlds goes wrong.
bool caught(const WorldShape& shape, bool watch_order, const Mutant& mutant) {
  constexpr std::uint64_t worlds = 100, cases = 5;
  for (std::uint64_t world = 0; world < worlds; ++world)
    if (!played(shape, alone(watch_order), world * cases, cases, mutant).empty()) return true;
  return false;
}

// Mutants that some shape catches, and those that none does.
struct Count {
  std::set<std::string> caught, missed, calls;
};
Count count_mutants(bool watch_order, bool relay) {
  Count count;
  for (const WorldShape& shape : shapes()) {
    if (shape.relays() != relay) continue;
    std::vector<OrderingCall> calls = calls_of(shape);
    std::erase_if(calls, [&](const OrderingCall& call) {
      return call.function.starts_with("relaying") != relay;
    });
    for (const OrderingCall& call : calls) count.calls.insert(text(call.function, call.number));
    for (const Mutant& mutant : mutants_of(calls))
      if (!count.caught.contains(mutant.name))
        (caught(shape, watch_order, mutant) ? count.caught : count.missed).insert(mutant.name);
  }
  for (const std::string& name : count.caught) count.missed.erase(name);
  return count;
}

void expect_all_caught(bool watch_order) {
  const std::size_t calls = ordering_calls_in("packed_exchange.cpp");
  const Count count = count_mutants(watch_order, false);
  EXPECT_EQ(count.calls.size(), calls);
  EXPECT_EQ(count.missed, std::set<std::string>{});
  EXPECT_EQ(count.caught.size(), 33u);
  const Count relaying = count_mutants(watch_order, true);
  EXPECT_EQ(relaying.calls.size(), calls + ordering_calls_in("packed_forward.cpp"));
  EXPECT_EQ(relaying.missed, std::set<std::string>{});
  EXPECT_EQ(relaying.caught.size(), 51u);
}

TEST(PackedExchange, AllThatOrdersIsNeeded) { expect_all_caught(true); }

// Without the clocks that find what nothing orders: some seed shows it by what arrives.
TEST(PackedExchange, WhateverIsLeftOutSpoilsData) { expect_all_caught(false); }

// ---- between processes

void play_beside(Line& line, std::int32_t rank, std::uint64_t cases) {
  ExchangeWorld world(two_neighbors(), {}, static_cast<std::uint64_t>(rank), {}, rank, rank + 1);
  PackedOffers offers = world.offers();
  tell_offer(line, offers.at(rank));
  offers[1 - rank] = hear_offer(line);
  world.connect(offers);
  for (std::uint64_t seed = 0; seed < cases; ++seed) world.run(seed);
  world.finish(cases);
  EXPECT_EQ(world.wrong(), 0u) << "of rank " << rank;
}

TEST(PackedExchange, ProcessesReachEachOtherByHandles) {
  Child child([](Line& line) { play_beside(line, 1, 100); });
  play_beside(child.line(), 0, 100);
  child.finish();
}

TEST(PackedExchange, APeerThatEndedIsNotWaitedForForever) {
  Child child([](Line& line) {
    ExchangeWorld world(two_neighbors(), {}, 1, {}, 1, 2);
    tell_offer(line, world.offers().at(1));
    line.hear();
  });
  SimulatedOptions impatient;
  impatient.patience = 0.01;
  ExchangeWorld world(two_neighbors(), impatient, 0, {}, 0, 1);
  PackedOffers offers = world.offers();
  offers[1] = hear_offer(child.line());
  world.connect(offers);
  child.kill();
  expect_sentence(error_of([&] { world.run(0); }), Errc::peer,
                  {"no process went on", "waits for a flag", "which is 0 and should become"});
}

// ---- what ranks need of their devices

TEST(PackedExchange, NeedsAbilitiesForOtherRanksOnly) {
  for (const Ability lacking : {Ability::flags_in_order, Ability::export_memory}) {
    SimulatedOptions options = alone();
    options.lacks = {lacking};
    SimulatedDevice device(options);
    const std::string why = device.ability(lacking).why_not;
    PackedMessage message{1, 0, device.allocate(MemoryKind::device, 0, 8), {}};
    message.layout.add(0, 8);
    expect_sentence(error_of([&] { PackedExchange(device, 0, 0, {}, {message}); }), Errc::argument,
                    {why});
    EXPECT_EQ(played(own_neighbors(), options, 0, 3), "");
  }
}

}  // namespace
}  // namespace tonari::test
