// SPDX-License-Identifier: BSD-3-Clause
// What one packed exchange does, and what it refuses.
#include "packing/packed_exchange.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "packing/offers_by_line.hpp"
#include "packing/packed_offer.hpp"
#include "packing/packed_pair.hpp"
#include "support/errors.hpp"

namespace tonari::test {
namespace {

// ---- the mistakes that users of halo libraries report

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

// ---- other memory, and the end

// More places than tables are kept of, and those of the work before are not freed too early.
TEST(PackedExchange, FollowsTheMemoryOfTheProgram) {
  Pair p;
  std::byte* const memory = p.device.allocate(MemoryKind::device, 0, 24 * 16);
  PackedMessage in = p.message(0, 8), out = p.message(0, 0);
  in.base = out.base = memory, out.space = 1, in.space = 2;
  PackedExchange exchange(p.device, 0, 0, {in}, {out});
  exchange.connect({});
  p.never_runs_by_itself();
  int polls = 0;
  const auto check = [&] {
    if (++polls == 3) *p.gate = 1;
  };
  for (int round = 0; round < 40; ++round) {
    const std::ptrdiff_t place = round % 20 * 16, other = (round + 7) % 20 * 16;
    const std::array<std::ptrdiff_t, 3> shifts{0, place, other};
    exchange.move_to(shifts, check);
    p.set(p.first, memory + place, 8, round);
    exchange.start_on(p.first);
    exchange.wait_on(p.first);
    if (polls < 3) continue;
    p.device.synchronize(p.first);
    EXPECT_EQ(p.value(memory + other + 8), round);
  }
  EXPECT_GE(polls, 3);  // work was still under way where a table had to go
  exchange.finish([] {});
}

TEST(PackedExchange, MemoryOutOfReachLeavesItWhereItWas) {
  Pair p;
  PackedMessage out = p.message(0, 0);
  PackedMessage in = p.message(0, 8);
  out.space = 1, in.space = 2;
  PackedExchange exchange(p.device, 0, 0, {in}, {out});
  exchange.connect({});
  using Place = std::array<std::ptrdiff_t, 3>;
  for (const Place& outside : {Place{0, Pair::bytes, 16}, Place{0, 16, Pair::bytes}})
    expect_sentence(error_of([&] { exchange.move_to(outside, [] {}); }), Errc::argument,
                    {"uses memory"});
  p.set(p.first, p.memory, 8, 3);
  exchange.start_on(p.first);
  exchange.wait_on(p.first);
  p.device.synchronize(p.first);
  EXPECT_EQ(p.value(p.memory + 8), 3);
  exchange.finish([] {});
}

// A rank that leaves is told of by nobody; it is complete when its peer has taken the last message.
TEST(PackedExchange, LeavesWithoutWaiting) {
  Pair p;
  PackedExchange from(p.device, 0, 0, {}, {p.message(1, 0)});
  PackedExchange to(p.device, 0, 1, {p.message(0, 8)}, {});
  const PackedOffers offers{{0, from.offer()}, {1, to.offer()}};
  from.connect(offers);
  to.connect(offers);
  from.start_on(p.first);
  from.wait_on(p.first);
  from.leave();
  for (int polls = 0; polls < 1'000; ++polls) ASSERT_FALSE(from.complete());
  to.start_on(p.second);
  to.wait_on(p.second);
  p.device.synchronize(p.second);
  for (int polls = 0; polls < 1'000 && !from.complete(); ++polls) {
  }
  EXPECT_TRUE(from.complete());
  to.leave();
  while (!to.complete()) {
  }
  from.close(), to.close();
}

// Its peer never comes. The streams of the program go on, whatever is in flight.
TEST(PackedExchange, GivingUpLetsStreamsGoOn) {
  for (const int starts : {0, 1, 2, 3}) {
    Pair p;
    PackedExchange exchange(p.device, 0, 0, {p.message(1, 8)}, {p.message(1, 0)});
    PackedExchange lost(p.device, 0, 1, {p.message(0, 8)}, {p.message(0, 0)});
    exchange.connect({{1, lost.offer()}});
    for (int k = 0; k < starts; ++k) {
      exchange.start_on(p.first);
      if (k < 2) exchange.wait_on(p.second);
    }
    EXPECT_EQ(p.completes(p.second), starts == 0);
    exchange.give_up(p.holding);
    EXPECT_TRUE(p.completes(p.first)) << starts;
    EXPECT_TRUE(p.completes(p.second)) << starts;
    for (int polls = 0; polls < 1'000 && !exchange.complete(); ++polls) {
    }
    EXPECT_TRUE(exchange.complete()) << starts;
  }
}

// Nor do streams wait where a rank would pass on what never comes.
TEST(PackedExchange, GivingUpLetsStepsGoOn) {
  for (const int starts : {1, 2}) {
    Pair p;
    PackedMessage passed = p.message(0, 0), on = passed;
    passed.only_passed_on = true;
    on.peer = 2, on.step = 1, on.from = 0;
    PackedExchange exchange(p.device, 0, 1, {passed}, {on});
    PackedExchange lost(p.device, 0, 0, {}, {p.message(1, 0)});
    PackedMessage last = p.message(1, 8);
    last.step = 1;
    PackedExchange behind(p.device, 0, 2, {last}, {});
    exchange.connect({{0, lost.offer()}, {2, behind.offer()}});
    for (int k = 0; k < starts; ++k) {
      exchange.start_on(p.first);
      exchange.wait_on(p.second);
    }
    EXPECT_FALSE(p.completes(p.second));
    exchange.give_up(p.holding);
    EXPECT_TRUE(p.completes(p.second)) << starts;
    EXPECT_TRUE(exchange.complete()) << starts;
  }
}

// Its peer has written the same flags meanwhile, so nothing waits for those that it writes itself.
// Once it is complete, no stream uses its memory all the same, in any order.
TEST(PackedExchange, GivingUpLeavesNothingInAStream) {
  SimulatedOptions options = alone();
  options.memory = 1 << 13;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Pair p(options, seed);
    {
      PackedExchange exchange(p.device, 0, 0, {p.message(1, 8)}, {p.message(1, 0)});
      PackedExchange other(p.device, 0, 1, {p.message(0, 24)}, {p.message(0, 16)});
      const PackedOffers offers{{0, exchange.offer()}, {1, other.offer()}};
      exchange.connect(offers);
      other.connect(offers);
      exchange.start_on(p.first);
      other.start_on(p.second);
      other.wait_on(p.second);
      p.device.synchronize(p.second);
      other.leave();
      exchange.wait_on(p.first);
      exchange.give_up(p.holding);
      bool there = false, here = false;  // each look runs some of the streams
      for (int polls = 0; polls < 10'000 && !(there && here); ++polls) {
        there = there || other.complete();
        here = here || exchange.complete();
      }
      ASSERT_TRUE(there && here) << seed;
      exchange.close(), other.close();
    }
    p.device.free(p.device.allocate(MemoryKind::device, 0, options.memory - Pair::bytes));
  }
}

// Both ends must count steps alike.
TEST(PackedExchange, RefusesPeersWithOtherSteps) {
  Pair p;
  PackedMessage later = p.message(0, 8);
  later.step = 1;
  PackedExchange peer(p.device, 0, 1, {later}, {});
  PackedExchange exchange(p.device, 0, 0, {}, {p.message(1, 0)});
  expect_sentence(error_of([&] { exchange.connect({{1, peer.offer()}}); }), Errc::mismatch,
                  {"both ends must know the same messages"});
}

// A peer gets what it needs, and no more.
TEST(PackedOffer, TravelsAsBytes) {
  PackedOffer offer;
  offer.memory.bytes = 4096, offer.memory.content[3] = 17;
  offer.inbox = lay_out_inbox(0, std::vector<PackedKey>{{1, 5, 8}, {2, 0, 24}, {1, 6, 300}},
                              std::vector<PackedKey>{{2, 0, 8}});
  const PackedOffer first = read_offer(written_offer(offer, 1), 1);
  EXPECT_EQ(written_offer(offer, 1).size(), bytes_of_offer(2));
  EXPECT_EQ(first.memory.content[3], 17u);
  EXPECT_EQ(first.inbox.bytes, offer.inbox.bytes);
  ASSERT_EQ(first.inbox.slots.size(), 2u);
  EXPECT_EQ(first.inbox.slots[1].key.tag, 6);
  EXPECT_EQ(first.inbox.slots[1].at, offer.inbox.slots[2].at);
  ASSERT_EQ(first.inbox.arrived.size(), 1u);
  EXPECT_EQ(first.inbox.arrived[0].peer, 1);
  EXPECT_EQ(first.inbox.arrived[0].at, offer.inbox.arrived[0].at);
  EXPECT_TRUE(first.inbox.taken.empty());
  EXPECT_EQ(read_offer(written_offer(offer, 2), 2).inbox.taken[0].at, offer.inbox.taken[0].at);
  offer.inbox = lay_out_inbox(0, std::vector<PackedKey>{{1, 0, 8, 0, 2}, {2, 0, 8}, {1, 0, 8, 1}},
                              std::vector<PackedKey>{{1, 0, 8, 0, 5}, {1, 0, 8, 1, 6}});
  const PackedOffer steps = read_offer(written_offer(offer, 1), 1);
  ASSERT_EQ(steps.inbox.arrived.size(), 2u);
  for (std::size_t k : {0u, 1u}) {
    EXPECT_EQ(steps.inbox.arrived[k].step, k == 0 ? 0 : 2);
    EXPECT_EQ(steps.inbox.arrived[k].at, offer.inbox.arrived[k].at);
  }
  ASSERT_EQ(steps.inbox.taken.size(), 1u);
  std::vector<std::byte> cut = written_offer(offer, 1);
  cut.pop_back();
  expect_sentence(error_of([&] { (void)read_offer(cut, 1); }), Errc::mismatch, {"makes no sense"});
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
