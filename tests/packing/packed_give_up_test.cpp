// SPDX-License-Identifier: BSD-3-Clause
// An exchange that is given up, with one call that orders something taken out: each is needed.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "device/mutated_device.hpp"
#include "packing/packed_pair.hpp"

namespace tonari::test {
namespace {

// One rank gives up after some starts. Its peer has come once, or never.
struct GivenUp {
  int starts = 1;
  bool waits = true;  // for the last start, too
  bool peer_comes = false;
  bool ahead = false;  // each start but the first comes before the wait for the one before
  bool apart = false;  // starts are in two streams, and nobody waits for any
};

class GivesUp {
 public:
  GivesUp(std::uint64_t seed, const Mutant& mutant) : pair_(with_little_memory(), seed) {
    mutated_.mutate(mutant);
  }
  // Returns what is wrong.
  std::string play(const GivenUp& way) {
    if (!exchange(way)) return "it is never complete";
    // work that is not complete would keep memory
    const Bytes left = with_little_memory().memory - Pair::bytes;
    if (tonari::error_of(
            [&] { pair_.device.free(pair_.device.allocate(MemoryKind::device, 0, left)); }))
      return "it is complete, but a stream uses its memory";
    return pair_.completes(pair_.first) && pair_.completes(pair_.second) ? "" : "a stream waits";
  }
  const std::vector<OrderingCall>& calls() const { return mutated_.calls(); }

 private:
  static SimulatedOptions with_little_memory() {
    SimulatedOptions options = alone();
    options.memory = 1 << 13;
    return options;
  }
  // Returns whether both ranks are complete.
  bool exchange(const GivenUp& way) {
    PackedExchange mine(mutated_, 0, 0, {pair_.message(1, 8)}, {pair_.message(1, 0)});
    PackedExchange peer(pair_.device, 0, 1, {pair_.message(0, 24)}, {pair_.message(0, 16)});
    const PackedOffers offers{{0, mine.offer()}, {1, peer.offer()}};
    mine.connect(offers);
    peer.connect(offers);
    for (int k = 1; k <= way.starts; ++k) {
      mine.start_on(way.apart && k > 1 ? pair_.second : pair_.first);
      if (k == 1 && way.peer_comes) come(peer, way.waits);
      if (!way.apart && (way.ahead ? k > 1 : k < way.starts)) mine.wait_on(pair_.second);
    }
    if (way.waits) mine.wait_on(pair_.second);
    mutated_.enter(way.apart ? "give_up two" : way.waits ? "give_up" : "give_up in flight");
    mine.give_up(pair_.holding);
    mutated_.enter("rest");
    bool here = false, there = !way.peer_comes;
    for (int looks = 0; looks < 10'000 && !(here && there); ++looks) {  // each runs some streams
      there = there || peer.complete();
      here = here || mine.complete();
    }
    mine.close(), peer.close();
    return here && there;
  }
  // Where nobody takes what it has sent, it gives up, too.
  void come(PackedExchange& peer, bool taken) {
    peer.start_on(peers_);
    peer.wait_on(peers_);
    pair_.device.synchronize(peers_);
    taken ? peer.leave() : peer.give_up(peers_);
  }

  Pair pair_;
  DeviceStream peers_ = pair_.device.make_stream(0);
  MutatedDevice mutated_{pair_.device, 0};
};

constexpr GivenUp two_in_flight{2, false, false, false, true};

std::vector<GivenUp> ways() {
  std::vector<GivenUp> all{
      {1, true, true}, {1, false, true}, {2, false, false, true}, two_in_flight};
  for (const int starts : {1, 2, 3, 4})
    for (const bool waits : {true, false}) all.push_back({starts, waits, false});
  return all;
}

std::string giving_up_in(std::uint64_t seed, const Mutant& mutant,
                         std::vector<OrderingCall>* calls) {
  for (const GivenUp& way : ways()) {
    GivesUp world(seed, mutant);
    std::string wrong;
    if (const auto error = tonari::error_of([&] { wrong = world.play(way); }))
      wrong = error->what();
    if (calls) calls->insert(calls->end(), world.calls().begin(), world.calls().end());
    if (!wrong.empty()) return wrong;
  }
  return "";
}

bool shown_to_be_needed(const Mutant& mutant) {
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    if (!giving_up_in(seed, mutant, nullptr).empty()) return true;
  return false;
}

// Where two are in flight, streams wait for no flag, and nothing was unpacked: only the waits for
// what each has packed matter.
bool orders_nothing(const OrderingCall& call) {
  if (call.function == "give_up two") return call.number != 2 && call.number != 3;
  return !call.function.starts_with("give_up");
}

// Its calls, and each flag that it writes.
TEST(PackedExchange, AllThatOrdersGivingUpIsNeeded) {
  std::vector<OrderingCall> calls;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    ASSERT_EQ(giving_up_in(seed, {}, &calls), "") << "seed " << seed;
  std::erase_if(calls, orders_nothing);
  std::set<std::string> all, missed;
  for (const Mutant& mutant : mutants_of(calls))
    if (all.insert(mutant.name).second && !shown_to_be_needed(mutant)) missed.insert(mutant.name);
  EXPECT_EQ(missed, std::set<std::string>{});
  EXPECT_EQ(all.size(), 21u);
}

TEST(PackedExchange, GivingUpWaitsForAllThatIsInFlight) {
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    ASSERT_EQ(GivesUp(seed, {}).play(two_in_flight), "") << "seed " << seed;
}

}  // namespace
}  // namespace tonari::test
