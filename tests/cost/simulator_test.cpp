// SPDX-License-Identifier: BSD-3-Clause
// The simulator against times computed by hand, and laws that any prices must obey.
#include "cost/simulator.hpp"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "base/error.hpp"
#include "cost/variants.hpp"
#include "plan/builder.hpp"

namespace tonari {
namespace {

using namespace cost;

// Numbers that can be told apart in a sum (in seconds, as if o were one second).
LogGP plain() {
  LogGP m;
  m.L = 100, m.o = 1, m.g = 3, m.G = 0.5, m.copy_block = 7, m.copy_byte = 0.25, m.typed_block = 11,
  m.eager = 64, m.rendezvous = 1000;
  return m;
}

// Blocks of so many bytes, by these numbers.
double time_of(std::span<const Plan> plans, std::uint64_t bytes, const ChannelCost& channel = {}) {
  return simulate(plans, blocks_of(bytes), plain(), channel);
}

constexpr Slice out(std::uint32_t block) { return {Buffer::send, block}; }
constexpr Slice in(std::uint32_t block) { return {Buffer::recv, block}; }

void send(Builder& b, std::initializer_list<Slice> slices, int peer, int tag) {
  for (Slice s : slices) b.slice(s);
  b.send(peer, tag);
}
void recv(Builder& b, std::initializer_list<Slice> slices, int peer, int tag) {
  for (Slice s : slices) b.slice(s);
  b.recv(peer, tag);
}

// Rank 0 sends the given blocks in one message to rank 1.
std::vector<Plan> one_message(std::initializer_list<Slice> from, std::initializer_list<Slice> to) {
  Builder a(0, 8), b(1, 8);
  send(a, from, 1, 0);
  recv(b, to, 0, 0);
  return {a.build(), b.build()};
}

TEST(Simulate, NothingTakesNoTime) {
  EXPECT_EQ(simulate({}, blocks_of(8), plain()), 0);
  const Plan empty = Builder(0, 0).build();
  EXPECT_EQ(simulate({&empty, 1}, blocks_of(8), plain()), 0);
  EXPECT_EQ(time_of(one_message({out(0)}, {in(0)}), 0), 0) << "empty messages are not sent";
}

TEST(Simulate, OneMessage) {
  // o, then (k-1) G on the wire, L, o
  EXPECT_DOUBLE_EQ(time_of(one_message({out(0)}, {in(0)}), 9), 1 + 8 * 0.5 + 100 + 1);
}

TEST(Simulate, PackedMessagesAreCopiedUnlessContiguous) {
  const double wire = 1 + 15 * 0.5 + 100 + 1, bytes = 16 * 0.25;
  EXPECT_DOUBLE_EQ(time_of(one_message({out(2), out(3)}, {in(0), in(1)}), 8), wire)
      << "one piece at both ends";
  EXPECT_DOUBLE_EQ(time_of(one_message({out(3), out(2)}, {in(0), in(1)}), 8), wire + 2 * 7 + bytes)
      << "two pieces sent";
  EXPECT_DOUBLE_EQ(time_of(one_message({out(2), out(3)}, {in(0), in(2)}), 8), wire + 2 * 7 + bytes)
      << "two received";
  EXPECT_DOUBLE_EQ(time_of(one_message({out(2), out(3)}, {in(0), in(1)}), 8, {false, 0, false}),
                   wire + 2 * (7 + bytes));
}

TEST(Simulate, TypedMessagesCostTheirPieces) {
  const double wire = 1 + 15 * 0.5 + 100 + 1;
  const ChannelCost typed{true, 0, true};
  EXPECT_DOUBLE_EQ(time_of(one_message({out(2), out(3)}, {in(0), in(1)}), 8, typed), wire);
  EXPECT_DOUBLE_EQ(time_of(one_message({out(2), out(4)}, {in(0), in(1)}), 8, typed), wire + 2 * 11);
  EXPECT_DOUBLE_EQ(time_of(one_message({out(2), out(4)}, {in(0), in(5)}), 8, typed), wire + 4 * 11);
}

TEST(Simulate, LongMessagesPayTheRendezvous) {
  EXPECT_DOUBLE_EQ(time_of(one_message({out(0)}, {in(0)}), 64), 1 + 63 * 0.5 + 100 + 1);
  EXPECT_DOUBLE_EQ(time_of(one_message({out(0)}, {in(0)}), 65), 1 + 1000 + 64 * 0.5 + 100 + 1);
}

TEST(Simulate, LongMessagesWaitForTheReceiver) {
  // Rank 1 returns what it received; only then is its only receive block free for the third
  // message.
  const auto plans = [] {
    Builder a(0, 2), b(1, 1);
    send(a, {out(0)}, 1, 0);
    recv(a, {in(0)}, 1, 1);
    send(a, {out(1)}, 1, 2);
    recv(b, {in(0)}, 0, 0);
    send(b, {in(0)}, 0, 1);
    recv(b, {in(0)}, 0, 2);
    return std::vector<Plan>{a.build(), b.build()};
  }();
  LogGP m = plain();
  m.G = 1e-9, m.eager = 8;
  const auto time = [&](std::uint64_t size) { return simulate(plans, blocks_of(size), m); };
  // Eager: rank 1 has the first at 102 and returns it by 103; the third is there long before; rank
  // 0 has the returned one at 103 + 100 + 1.
  EXPECT_NEAR(time(8), 204, 1e-6);
  // Rendezvous: the first arrives at 1 + 1000 + 100, is received at 1102 and returned from 1103 +
  // 1000 on; only when it has left may the third start, and is received at 2103 + 1000 + 100 + 1.
  EXPECT_NEAR(time(9), 3204, 1e-6);
}

TEST(Simulate, ChainOfThree) {
  // 0 -> 1 -> 2: each hop o + (k-1) G + L + o; rank 1 passes on what it received, unpacked into its
  // receive block.
  Builder a(0, 1), b(1, 1), c(2, 1);
  send(a, {out(0)}, 1, 0);
  recv(b, {in(0)}, 0, 0);
  send(b, {in(0)}, 2, 1);
  recv(c, {in(0)}, 1, 1);
  const std::vector<Plan> plans{a.build(), b.build(), c.build()};
  EXPECT_DOUBLE_EQ(time_of(plans, 3), 2 * (1 + 1 + 100 + 1));
}

TEST(Simulate, BlocksPassedOnAreNotUnpackedButPackedAgain) {
  Builder a(0, 2), b(1, 2), c(2, 2);
  send(a, {out(0), out(1)}, 1, 0);
  const Slice first = b.scratch(0), second = b.scratch(1);
  recv(b, {first, second}, 0, 0);
  send(b, {first, second}, 2, 1);
  recv(c, {in(0), in(1)}, 1, 1);
  const std::vector<Plan> plans{a.build(), b.build(), c.build()};
  EXPECT_DOUBLE_EQ(time_of(plans, 1), 2 * (1 + 0.5 + 100 + 1) + (7 + 2 * 0.25));
}

// Two messages from rank 0 to rank 1.
double two_messages(const LogGP& m, std::uint64_t size) {
  Builder a(0, 2), b(1, 2);
  for (int k : {0, 1}) {
    send(a, {out(k)}, 1, k);
    recv(b, {in(k)}, 0, k);
  }
  return simulate(std::vector{a.build(), b.build()}, blocks_of(size), m);
}

TEST(Simulate, TheInterfaceSerializesByTheGap) {
  // The second may leave at 1 + g, or, when overheads are longer, at 2 o.
  EXPECT_DOUBLE_EQ(two_messages(plain(), 1), 1 + 3 + 100 + 1);
  EXPECT_DOUBLE_EQ(two_messages(plain(), 9), 1 + (4 + 3) + 4 + 100 + 1)
      << "long ones occupy it for (k-1) G + g";
}

TEST(Simulate, TheProcessorSerializesByTheOverhead) {
  LogGP m = plain();
  m.o = 5;
  EXPECT_DOUBLE_EQ(two_messages(m, 1), 2 * 5 + 100 + 5);
}

// Rank 0 swaps with ranks 1 and 2, at once or one after the other.
std::vector<Plan> two_swaps(bool at_once) {
  std::vector<Plan> plans;
  for (int rank = 0; rank < 3; ++rank) {
    Builder b(rank, 3);
    for (std::uint32_t peer : {1u, 2u}) {
      if (rank > 0 && peer == 2) continue;
      b.slice(in(rank == 0 ? peer : 0));
      b.exchange(rank == 0 ? static_cast<int>(peer) : 0, 0);
    }
    if (rank == 0 && !at_once) b.after(0, 1);
    plans.push_back(b.build());
  }
  return plans;
}

TEST(Simulate, ASwapCopiesThenSendsAndReceives) {
  std::vector<Plan> pair;
  for (int rank : {0, 1}) {
    Builder b(rank, 2);
    b.slice(in(1 - rank));
    b.exchange(1 - rank, 0);
    pair.push_back(b.build());
  }
  const double eager = 1 + 7 + 9 * 0.25 + 8 * 0.5 + 100 + 1,
               rendezvous = 1 + 7 + 65 * 0.25 + 1000 + 64 * 0.5 + 100 + 1;
  EXPECT_DOUBLE_EQ(time_of(pair, 9), eager);
  EXPECT_DOUBLE_EQ(time_of(pair, 65), rendezvous);
  EXPECT_DOUBLE_EQ(time_of({pair.data(), 1}, 9), eager) << "one plan stands for both";
  EXPECT_DOUBLE_EQ(time_of({pair.data(), 1}, 65), rendezvous);
  EXPECT_EQ(time_of(pair, 0), 0);
}

TEST(Simulate, SwapsWaitForTheirPartnersAndOverlap) {
  const double copied = 1 + 7 + 9 * 0.25, one = copied + 8 * 0.5 + 100 + 1;
  EXPECT_DOUBLE_EQ(time_of(two_swaps(false), 9), 2 * one)
      << "rank 2 could begin at once, but rank 0 cannot";
  EXPECT_DOUBLE_EQ(time_of(two_swaps(true), 9), one + copied)
      << "the copies of rank 0 take turns, nothing else";
}

TEST(Simulate, SwapsThatNeverMeetAreAnError) {
  std::vector<Plan> cycle;
  for (int rank = 0; rank < 3; ++rank) {
    Builder b(rank, 3);
    for (int step : {1, 2}) {
      b.slice(in((rank + step) % 3));
      b.exchange((rank + step) % 3, 0);
    }
    b.after(0, 1);
    cycle.push_back(b.build());
  }
  EXPECT_THROW(time_of(cycle, 9), Error);
  const std::vector<Plan> three = two_swaps(true);
  EXPECT_THROW(time_of({three.data(), 2}, 9), Error) << "rank 2 is not there";
  Builder a(0, 2), b(1, 2);  // rank 1 answers the swap with two messages
  a.slice(in(1));
  a.exchange(1, 0);
  send(b, {out(0)}, 0, 0);
  recv(b, {in(0)}, 0, 0);
  EXPECT_THROW(time_of(std::vector{a.build(), b.build()}, 9), Error);
}

TEST(Simulate, ReceivesTakeTurnsToo) {
  // Two senders: both messages are there at 1 + 100, and the processor takes one after the other.
  Builder a(0, 2), b(1, 2), c(2, 2);
  send(a, {out(0)}, 2, 0);
  send(b, {out(0)}, 2, 0);
  recv(c, {in(0)}, 0, 0);
  recv(c, {in(1)}, 1, 0);
  const std::vector<Plan> plans{a.build(), b.build(), c.build()};
  EXPECT_DOUBLE_EQ(time_of(plans, 1), 1 + 100 + 2 * 1);
}

TEST(Simulate, CopiesAtHome) {
  Builder b(0, 8);
  const std::vector<Slice> from{out(0), out(1), out(4)}, to{in(2), in(3), in(4)};
  b.copy(from, to);
  const Plan plan = b.build();
  EXPECT_DOUBLE_EQ(time_of({&plan, 1}, 4), 2 * 7 + 12 * 0.25);
}

TEST(Simulate, CopiesAtHomeLetMessagesGoFirst) {
  Builder a(0, 8), b(1, 8);
  a.copy(std::vector{out(0)}, std::vector{in(0)});
  send(a, {out(1)}, 1, 0);
  recv(b, {in(0)}, 0, 0);
  EXPECT_DOUBLE_EQ(time_of(std::vector{a.build(), b.build()}, 3), 1 + 1 + 100 + 1);
}

TEST(Simulate, ALongSendIsOverWhenItHasLeft) {
  Builder a(0, 2), b(1, 2);
  for (int k : {0, 1}) {
    send(a, {out(k)}, 1, k);
    recv(b, {in(k)}, 0, k);
  }
  a.limit_ports(1);  // the second send waits for the first: until 1 + 1000 + 32
  EXPECT_DOUBLE_EQ(time_of(std::vector{a.build(), b.build()}, 65), 1033 + 1 + 1000 + 32 + 100 + 1);
}

TEST(Simulate, SegmentsAvoidTheRendezvousAndPayOverheads) {
  const auto plans = one_message({out(0)}, {in(0)});
  // 160 bytes as 64, 64, 32: the interface takes 31.5 + 3 for a full one; the last leaves at 1 + 2
  // * 34.5 and ends 15.5 later.
  EXPECT_DOUBLE_EQ(time_of(plans, 160, {false, 64, true}), 3 + 2 * 34.5 - 2 + 15.5 + 100 + 1);
  EXPECT_DOUBLE_EQ(time_of(plans, 160), 1 + 1000 + 159 * 0.5 + 100 + 1);
}

TEST(Simulate, MalformedPlansAreRefused) {
  Builder a(0, 1), b(1, 1);
  send(a, {out(0)}, 1, 0);
  recv(b, {in(0)}, 0, 1);
  const std::vector<Plan> other_tag{a.build(), b.build()};
  EXPECT_THROW(time_of(other_tag, 1), Error);

  Builder c(0, 1), d(1, 1);  // both receive before they send
  for (auto [builder, peer] : {std::pair{&c, 1}, {&d, 0}}) {
    recv(*builder, {in(0)}, peer, 0);
    send(*builder, {in(0)}, peer, 0);
  }
  const std::vector<Plan> deadlock{c.build(), d.build()};
  EXPECT_THROW(time_of(deadlock, 1), Error);
}

TEST(Simulate, ABorderRankAloneIsServedAsIfItsPeersDidAlike) {
  Builder b(0, 1);
  recv(b, {in(0)}, 1, 0);
  const Plan plan = b.build();
  EXPECT_DOUBLE_EQ(time_of({&plan, 1}, 9), 1 + 4 + 100 + 1);
  EXPECT_DOUBLE_EQ(time_of({&plan, 1}, 65), 1 + 1000 + 32 + 100 + 1);
}

// Patterns on grids.

const ChannelCost channels[] = {{}, {true, 0, true}, {false, 4000, true}};

std::vector<Plan> all_plans(const OffsetVariant& schedule, EmitOptions options = {}) {
  std::vector<Plan> plans;
  for (int rank = 0; rank < schedule.near().grid.ranks(); ++rank)
    plans.push_back(schedule.plan(rank, options));
  return plans;
}

TEST(Simulate, OneRankStandsForAllOnATorus) {
  const LogGP machine;
  for (const char* pattern : {"moore:2:1", "moore:2:2", "star:2:2", "moore:3:1", "octant:2"})
    for (int size : {2, 3, 5})
      for (Collective collective : both)
        for (const OffsetVariant& schedule : schedules(near(pattern, size), collective))
          for (Storage storage : {Storage::alternate, Storage::separate})
            for (const ChannelCost& channel : channels)
              for (std::uint64_t size_of_block : {1u, 100u, 5000u, 100000u}) {
                const std::vector<Plan> plans = all_plans(schedule, {storage, 0});
                const double all = simulate(plans, blocks_of(size_of_block), machine, channel);
                const double one =
                    simulate({&plans[0], 1}, blocks_of(size_of_block), machine, channel);
                ASSERT_DOUBLE_EQ(one, all)
                    << pattern << " on " << size << ", " << schedule.label() << ", "
                    << name(collective) << ", " << size_of_block << " bytes";
              }
}

TEST(Simulate, MeshesRunWithAllRanksAndWithOne) {
  for (const char* pattern : {"moore:2:1", "moore:2:2"})
    for (Collective collective : both)
      for (const OffsetVariant& schedule : schedules(near(pattern, 4, false), collective)) {
        const std::vector<Plan> plans = all_plans(schedule);
        const double all = simulate(plans, blocks_of(64), {});
        EXPECT_GT(all, 0);
        for (const Plan& plan : plans) {
          const double one = simulate({&plan, 1}, blocks_of(64), {});
          EXPECT_GT(one, 0);
          EXPECT_LT(one, 2 * all) << schedule.label();
        }
      }
}

// But for luckier orders of what a processor takes: see the header. Where nothing waits for
// anything there is one order.
TEST(Simulate, BiggerBlocksAreNeverFaster) {
  for (const char* pattern : {"moore:2:1", "moore:3:1", "star:3:1", "moore:2:3", "octant:3"})
    for (Collective collective : both)
      for (const OffsetVariant& schedule : schedules(near(pattern, 9), collective))
        for (const ChannelCost& channel : channels) {
          const Plan plan = schedule.plan(0);
          const double luck = plan.depth() == 1 ? 1e-12 : 0.05;
          double before = 0;
          for (std::uint64_t size = 1; size <= 1 << 20; size += 1 + size / 3) {
            const double now = simulate({&plan, 1}, blocks_of(size), {}, channel);
            ASSERT_GE(now, before * (1 - luck)) << pattern << ", " << schedule.label() << ", "
                                                << name(collective) << ", " << size << " bytes";
            before = now;
          }
        }
}

TEST(Simulate, APortsLimitIsNeverFaster) {
  for (const char* pattern : {"moore:2:1", "moore:3:1", "star:3:1", "octant:3"})
    for (Collective collective : both)
      for (const OffsetVariant& schedule : schedules(near(pattern, 9), collective))
        for (std::uint64_t size : {1u, 512u, 65536u}) {
          const auto time = [&](int ports) {
            const Plan plan = schedule.plan(0, {Storage::separate, ports});
            return simulate({&plan, 1}, blocks_of(size), {});
          };
          EXPECT_GE(time(1), time(0) * (1 - 1e-12))
              << pattern << ", " << schedule.label() << ", " << size;
          EXPECT_GE(time(2), time(0) * (1 - 1e-12))
              << pattern << ", " << schedule.label() << ", " << size;
        }
  const OffsetVariant linear = schedules(near("moore:3:1", 9), Collective::alltoall)[0];
  const Plan plan = linear.plan(0, {Storage::separate, 1}), free = linear.plan(0);
  EXPECT_GT(simulate({&plan, 1}, blocks_of(1), {}), 2 * simulate({&free, 1}, blocks_of(1), {}))
      << "26 latencies instead of one";
}

}  // namespace
}  // namespace tonari
