// SPDX-License-Identifier: BSD-3-Clause
#include "device/packed_exchange.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "device/exchange_world.hpp"
#include "device/offers_by_line.hpp"
#include "device/program.hpp"
#include "memory/child.hpp"
#include "support/errors.hpp"
#include "support/random_cases.hpp"

namespace tonari::test {
namespace {

std::vector<WorldShape> shapes() {
  return {own_neighbors(), two_neighbors(), one_way(), passing_around()};
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

TEST(PackedExchange, HundredThousandCasesAreRight) { play_all(25'000); }

// ---- what orders is needed

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

// So many calls that order something does the source have.
std::size_t ordering_calls_in_source() {
  std::ifstream file(std::string(TONARI_GOLDENS) + "/../../src/device/packed_exchange.cpp");
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
Count count_mutants(bool watch_order) {
  Count count;
  for (const WorldShape& shape : shapes()) {
    const std::vector<OrderingCall> calls = calls_of(shape);
    for (const OrderingCall& call : calls) count.calls.insert(text(call.function, call.number));
    for (const Mutant& mutant : mutants_of(calls))
      if (!count.caught.contains(mutant.name))
        (caught(shape, watch_order, mutant) ? count.caught : count.missed).insert(mutant.name);
  }
  for (const std::string& name : count.caught) count.missed.erase(name);
  return count;
}

void expect_all_caught(bool watch_order) {
  const Count count = count_mutants(watch_order);
  EXPECT_EQ(count.calls.size(), ordering_calls_in_source());
  EXPECT_EQ(count.missed, std::set<std::string>{});
  EXPECT_EQ(count.caught.size(), 33u);
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

// ---- the mistakes that users of halo libraries report

struct Pair : Program {
  using Program::Program;

  PackedMessage message(std::int32_t peer, std::ptrdiff_t at, std::size_t size = 8) const {
    PackedMessage message{peer, 3, memory, {}};
    message.layout.add(at, size);
    return message;
  }
  // Whether the stream gets as far as that, however often the host looks.
  bool completes(DeviceStream stream) {
    device.record(stream, event);
    for (int polls = 0; polls < 1'000; ++polls)
      if (device.query(event)) return true;
    return false;
  }
};

TEST(PackedExchange, PacksWhatASlowProducerWrites) {
  Pair p;
  PackedExchange exchange(p.device, 0, 0, {p.message(0, 8)}, {p.message(0, 0)});
  exchange.connect({});
  p.fill(p.memory, 16, 1);
  p.never_runs_by_itself();
  p.set(p.first, p.memory, 8, 2);
  exchange.start_on(p.first);
  exchange.wait_on(p.second);
  EXPECT_FALSE(p.completes(p.second));
  p.let_run();
  EXPECT_EQ(p.value(p.memory + 8), 2);
  exchange.finish([] {});
}

// Rank 0 is far ahead of rank 1, which has not unpacked the first message yet.
TEST(PackedExchange, KeepsSlotsUntilTheirLastUnpackingIsDone) {
  Pair p;
  PackedExchange from(p.device, 0, 0, {}, {p.message(1, 0)});
  PackedExchange to(p.device, 0, 1, {p.message(0, 8)}, {});
  const PackedOffers offers{{0, from.offer()}, {1, to.offer()}};
  from.connect(offers);
  to.connect(offers);
  p.never_runs_by_itself();  // what rank 1 does
  to.start_on(p.first);
  to.wait_on(p.first);
  p.device.copy(p.first, p.memory + 16, p.memory + 8, 8);
  for (int value = 1; value <= 3; ++value) {
    p.set(p.second, p.memory, 8, value);
    from.start_on(p.second);
    from.wait_on(p.second);
    EXPECT_EQ(p.completes(p.second), value < 3);
  }
  p.let_run();
  EXPECT_EQ(p.value(p.memory + 16), 1);
  for (int value = 2; value <= 3; ++value) {
    to.start_on(p.first);
    to.wait_on(p.first);
    p.device.synchronize(p.first);
    EXPECT_EQ(p.value(p.memory + 8), value);
  }
  from.finish([] {});
  to.finish([] {});
}

TEST(PackedExchange, GivesUpWhereAPeerIsLost) {
  Pair p;
  PackedExchange to(p.device, 0, 1, {p.message(0, 8)}, {});
  {
    PackedExchange from(p.device, 0, 0, {}, {p.message(1, 0)});
    const PackedOffers offers{{0, from.offer()}, {1, to.offer()}};
    from.connect(offers);
    from.start_on(p.first);
    from.wait_on(p.first);
    int polls = 0;
    const auto check = [&] {
      if (++polls == 100) fail(Errc::peer, "rank 1 has ended");
    };
    expect_sentence(error_of([&] { from.finish(check); }), Errc::peer, {"rank 1 has ended"});
  }
  p.fill(p.memory, 8, 4);  // the device goes on
  EXPECT_EQ(p.value(p.memory), 4);
}

// ---- what is refused

TEST(PackedExchange, RefusesMoreThanTwoInFlightAndWaitsForNone) {
  Pair p;
  PackedExchange exchange(p.device, 0, 0, {p.message(0, 8)}, {p.message(0, 0)});
  exchange.connect({});
  expect_sentence(error_of([&] { exchange.wait_on(p.first); }), Errc::active,
                  {"no exchange is in flight"});
  exchange.start_on(p.first);
  exchange.start_on(p.first);
  expect_sentence(error_of([&] { exchange.start_on(p.first); }), Errc::active,
                  {"two exchanges are in flight"});
  exchange.wait_on(p.first);
  expect_sentence(error_of([&] { exchange.finish([] {}); }), Errc::active,
                  {"an exchange is in flight"});
  exchange.wait_on(p.first);
  exchange.finish([] {});
}

TEST(PackedExchange, RefusesStreamsOfOtherDevicesAndStartsBeforeItIsConnected) {
  Pair p(two_devices());
  const DeviceStream other = p.device.make_stream(1);
  PackedExchange exchange(p.device, 0, 0, {p.message(0, 8)}, {p.message(0, 0)});
  expect_sentence(error_of([&] { exchange.start_on(p.first); }), Errc::argument,
                  {"is not connected"});
  exchange.connect({});
  const std::vector<std::string> refused{"is one of device 1", "is on device 0"};
  expect_sentence(error_of([&] { exchange.start_on(other); }), Errc::argument, refused);
  exchange.start_on(p.first);
  expect_sentence(error_of([&] { exchange.wait_on(other); }), Errc::argument, refused);
  exchange.wait_on(p.first);  // nothing was counted that the streams did not get
  exchange.finish([] {});
}

TEST(PackedExchange, RefusesToBeCaptured) {
  Pair p;
  PackedExchange exchange(p.device, 0, 0, {p.message(0, 8)}, {p.message(0, 0)});
  exchange.connect({});
  p.device.begin_capture(p.first);
  expect_sentence(error_of([&] { exchange.start_on(p.first); }), Errc::active,
                  {"cannot be captured", "end the capture first"});
  p.device.end_capture(p.first);
  exchange.start_on(p.first);
  exchange.wait_on(p.first);
  exchange.finish([] {});
}

TEST(PackedExchange, RefusesPeersThatExpectSomethingElse) {
  Pair p;
  PackedExchange exchange(p.device, 0, 0, {}, {p.message(1, 0)});
  expect_sentence(error_of([&] { exchange.connect({}); }), Errc::mismatch,
                  {"rank 1 has offered no memory"});
  PackedExchange shorter(p.device, 0, 1, {p.message(0, 8, 4)}, {});
  expect_sentence(error_of([&] { exchange.connect({{1, shorter.offer()}}); }), Errc::mismatch,
                  {"no rank expects message 3 of 8 bytes of rank 0"});
}

TEST(PackedExchange, RefusesAnOfferThatDoesNotLieInItsMemory) {
  Pair p;
  PackedExchange peer(p.device, 0, 1, {p.message(0, 8)}, {});
  const PackedOffer offer = peer.offer();
  const auto refused = [&](auto change, const std::string& sentence) {
    PackedOffer changed = offer;
    change(changed);
    PackedExchange exchange(p.device, 0, 0, {}, {p.message(1, 0)});
    expect_sentence(error_of([&] { exchange.connect({{1, changed}}); }), Errc::argument,
                    {sentence});
  };
  refused([](PackedOffer& o) { o.inbox.bytes += 1; }, "offers less memory");
  refused([](PackedOffer& o) { o.inbox.arrived[0].at = 4; }, "do not lie");
  refused([](PackedOffer& o) { o.inbox.arrived[0].at = ~Bytes{7}; }, "do not lie");
  refused([](PackedOffer& o) { o.inbox.slots[0].at += 128; }, "do not lie");
  refused([](PackedOffer& o) { o.inbox.slots[0].each = ~Bytes{0} / 2; }, "do not lie");
}

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

TEST(PackedExchange, GivesBackAllMemory) {
  SimulatedOptions options = alone();
  options.memory = 1 << 16;
  SimulatedDevice device(options);
  std::byte* const memory = device.allocate(MemoryKind::device, 0, 1 << 14);
  for (int k = 0; k < 10; ++k) {  // each takes more than a third of what is left
    PackedMessage in{0, 0, memory, {}}, out{0, 0, memory, {}};
    in.layout.add(0, 1 << 13);
    out.layout.add(1 << 13, 1 << 13);
    PackedExchange exchange(device, 0, 0, {in}, {out});
    exchange.connect({});
    const DeviceStream stream = device.make_stream(0);
    exchange.start_on(stream);
    exchange.wait_on(stream);
    exchange.finish([] {});
    device.end_stream(stream);
  }
}

}  // namespace
}  // namespace tonari::test
