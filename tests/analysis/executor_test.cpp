// SPDX-License-Identifier: BSD-3-Clause
// The reference executor proves right plans and finds what is wrong with wrong ones: each test
// breaks one thing.
#include "analysis/executor.hpp"

#include <gtest/gtest.h>

#include "plan/builder.hpp"
#include "plan/sabotage.hpp"

namespace tonari {
namespace {

constexpr Slice s0{Buffer::send, 0}, s1{Buffer::send, 1}, r0{Buffer::recv, 0}, r1{Buffer::recv, 1};

using Slices = std::vector<Slice>;

OpId send(Builder& builder, int peer, int tag, const Slices& slices) {
  for (Slice s : slices) builder.slice(s);
  return builder.send(peer, tag);
}
OpId recv(Builder& builder, int peer, int tag, const Slices& slices) {
  for (Slice s : slices) builder.slice(s);
  return builder.recv(peer, tag);
}

// Two ranks that exchange `blocks` blocks of the given size.
Delivery exchange(std::size_t blocks, std::uint64_t bytes = 5) {
  Delivery delivery;
  for (int rank = 0; rank < 2; ++rank) {
    delivery.send_bytes.emplace_back(blocks, bytes);
    delivery.recv_bytes.emplace_back(blocks, bytes);
    auto& expected = delivery.expected.emplace_back();
    for (std::uint32_t i = 0; i < blocks; ++i) expected.push_back({1 - rank, i});
  }
  return delivery;
}

// The right plan: both blocks in one message.
Plan pair_plan(int rank) {
  Builder builder(rank, 2);
  send(builder, 1 - rank, 0, {s0, s1});
  recv(builder, 1 - rank, 0, {r0, r1});
  return builder.build();
}

// Block 0 goes through a scratch block on its way in: recv t0, copy to r0, then a second time for
// block 1.
Plan forwarding_plan(int rank) {
  Builder builder(rank, 2);
  const Slice t0 = builder.scratch(0);
  for (int i = 0; i < 2; ++i) {
    send(builder, 1 - rank, i, {i == 0 ? s0 : s1});
    recv(builder, 1 - rank, i, {t0});
    builder.copy(Slices{t0}, Slices{i == 0 ? r0 : r1});
  }
  return builder.build();
}

std::string fault(const std::vector<Plan>& plans, const Delivery& delivery) {
  const Proof proof = prove(plans, delivery);
  for (std::uint64_t seed = 2; seed < 10; ++seed)
    EXPECT_EQ(prove(plans, delivery, seed).ok, proof.ok) << "depends on the order";
  return proof.ok ? "none" : proof.what;
}

TEST(Executor, ProvesRightPlans) {
  EXPECT_EQ(fault({pair_plan(0), pair_plan(1)}, exchange(2)), "none");
  EXPECT_EQ(fault({pair_plan(0), pair_plan(1)}, exchange(2, 0)), "none");
  EXPECT_EQ(fault({forwarding_plan(0), forwarding_plan(1)}, exchange(2)), "none");
  EXPECT_EQ(fault({}, {}), "none");
  EXPECT_TRUE(prove({}, {}));
}

TEST(Executor, FindsSwappedBlocks) {
  EXPECT_EQ(fault({test::swapped(pair_plan(0), 0, 0, 1), pair_plan(1)}, exchange(2)),
            "rank 1: receive block 0 is not block 0 of rank 0 (byte 0)");
  EXPECT_EQ(fault({pair_plan(0), test::swapped(pair_plan(1), 1, 0, 1)}, exchange(2)),
            "rank 1: receive block 0 is not block 0 of rank 0 (byte 0)");
}

TEST(Executor, FindsABlockOfTheWrongRank) {
  Delivery delivery = exchange(2);
  delivery.expected[1][1] = {1, 1};
  EXPECT_EQ(fault({pair_plan(0), pair_plan(1)}, delivery),
            "rank 1: receive block 1 is not block 1 of rank 1 (byte 0)");
}

TEST(Executor, FindsALostMessage) {
  Builder mute(1, 2);
  recv(mute, 0, 0, {r0, r1});
  EXPECT_EQ(fault({pair_plan(0), mute.build()}, exchange(2)), "1 sends for 2 receives");
  Builder deaf(1, 2);
  send(deaf, 0, 0, {s0, s1});
  EXPECT_EQ(fault({pair_plan(0), deaf.build()}, exchange(2)), "2 sends for 1 receives");
}

TEST(Executor, FindsAMessageWithAnotherTag) {
  Builder other(1, 2);
  send(other, 0, 7, {s0, s1});
  recv(other, 0, 0, {r0, r1});
  EXPECT_EQ(fault({pair_plan(0), other.build()}, exchange(2)),
            "rank 0 waits for a message with tag 0 that rank 1 does not send");
}

TEST(Executor, FindsOneMessageReceivedTwice) {
  Builder twice(0, 2), sender(1, 2);
  recv(twice, 1, 0, {r0});
  recv(twice, 1, 0, {r1});
  send(sender, 0, 0, {s0});
  send(sender, 0, 1, {s1});
  EXPECT_EQ(fault({twice.build(), sender.build()}, exchange(2)),
            "rank 0 waits for a message with tag 0 that rank 1 does not send");
}

TEST(Executor, FindsTwoMessagesThatCannotBeToldApart) {
  Builder sender(0, 2);
  send(sender, 1, 3, {s0});
  send(sender, 1, 3, {s1});
  EXPECT_EQ(fault({sender.build(), pair_plan(1)}, exchange(2)),
            "rank 0 sends two messages with tag 3 to rank 1");
}

// Both ranks send first and receive only when that has left. With buffered sends it works; if sends
// wait for their receiver, as they may, both wait for ever.
TEST(Executor, FindsACycleThatOnlySynchronousSendsClose) {
  const auto plan = [](int rank) {
    Builder builder(rank, 1);
    const Slice t0 = builder.scratch(0);
    builder.copy(Slices{s0}, Slices{t0});
    send(builder, 1 - rank, 0, {t0});
    recv(builder, 1 - rank, 0, {t0});  // writes what the send reads
    builder.copy(Slices{t0}, Slices{r0});
    return builder.build();
  };
  EXPECT_EQ(fault({plan(0), plan(1)}, exchange(1)),
            "deadlock: 6 operations can never complete, among them operation 1 of rank 0");
}

TEST(Executor, FindsRanksThatWaitForEachOther) {
  const auto plan = [](int rank) {
    Builder builder(rank, 1);
    recv(builder, 1 - rank, 0, {r0});
    send(builder, 1 - rank, 0, {r0});
    return builder.build();
  };
  EXPECT_EQ(fault({plan(0), plan(1)}, exchange(1)),
            "deadlock: 4 operations can never complete, among them operation 0 of rank 0");
}

TEST(Executor, FindsACopyThatNothingReleases) {
  // 2 reads what 1 writes
  const Plan stuck = test::with_edge(test::without_edge(forwarding_plan(0), 1, 2), 1, 5);
  EXPECT_EQ(fault({stuck, forwarding_plan(1)}, exchange(2)),
            "rank 0: operations 1 and 2 touch scratch block 0 in no certain order");
}

TEST(Executor, FindsEveryMissingDependency) {
  const Plan right = forwarding_plan(0);
  int edges = 0;
  for (OpId before = 0; before < right.size(); ++before)
    for (OpId after : right.successors(before)) {
      ++edges;
      const std::string what =
          fault({test::without_edge(right, before, after), forwarding_plan(1)}, exchange(2));
      EXPECT_TRUE(what.starts_with("rank 0: operations ") &&
                  what.ends_with(" touch scratch block 0 in no certain order"))
          << what;
    }
  EXPECT_EQ(edges, 3);  // recv, copy, recv, copy
}

TEST(Executor, FindsTwoWritesInOneOperation) {
  Builder builder(1, 2);
  send(builder, 0, 0, {s0, s1});
  recv(builder, 0, 0, {r0, r0});
  EXPECT_EQ(fault({pair_plan(0), builder.build()}, exchange(2)),
            "rank 1: operations 1 and 1 touch receive block 0 in no certain order");
}

TEST(Executor, FindsACopyOntoItself) {
  Builder builder(0, 1);
  builder.copy(Slices{r0}, Slices{r0});
  Builder nothing(1, 1);
  EXPECT_EQ(fault({builder.build(), nothing.build()}, exchange(1)),
            "rank 0: operations 0 and 0 touch receive block 0 in no certain order");
}

TEST(Executor, FindsAnOperationThatWaitsForALaterOne) {
  EXPECT_EQ(fault({test::with_edge(pair_plan(0), 1, 0), pair_plan(1)}, exchange(2)),
            "rank 0: operation 0 waits for the later operation 1");
}

TEST(Executor, FindsWritesToTheSendBuffer) {
  EXPECT_EQ(fault({pair_plan(0), test::with_slice(pair_plan(1), 1, 1, s1)}, exchange(2)),
            "rank 1: operation 1 writes to the send buffer");
  Builder copier(0, 1);
  copier.copy(Slices{s0}, Slices{r0});
  const Plan broken = test::with_slice(copier.build(), 0, 1, s0);
  EXPECT_EQ(fault({broken, Builder(1, 1).build()}, exchange(1)),
            "rank 0: operation 0 writes to the send buffer");
}

TEST(Executor, FindsReadsBeforeAnythingWasWritten) {
  Builder builder(0, 2);
  const Slice t0 = builder.scratch(0);
  send(builder, 1, 0, {s0, t0});
  recv(builder, 1, 0, {r0, r1});
  EXPECT_EQ(fault({builder.build(), pair_plan(1)}, exchange(2)),
            "rank 0 reads scratch block 0 before anything was written there");
}

TEST(Executor, FindsReadsOfTheReceiveBufferBeforeTheMessage) {
  Builder builder(0, 1);
  builder.copy(Slices{r0}, Slices{builder.scratch(0)});
  EXPECT_EQ(fault({builder.build(), Builder(1, 1).build()}, exchange(1)),
            "rank 0 reads receive block 0 before anything was written there");
}

TEST(Executor, FindsSizesThatDoNotMatch) {
  Delivery delivery = exchange(2);
  delivery.recv_bytes[1][1] = 6;
  EXPECT_EQ(fault({pair_plan(0), pair_plan(1)}, delivery),
            "block 1 of the message from rank 0 to rank 1 with tag 0 differs in size");
  Builder one(1, 2);
  send(one, 0, 0, {s0, s1});
  recv(one, 0, 0, {r0});
  EXPECT_EQ(fault({pair_plan(0), one.build()}, exchange(2)),
            "rank 0 sends 2 blocks, rank 1 receives 1");
}

TEST(Executor, FindsCopiesToABlockOfAnotherSize) {
  Delivery delivery = exchange(1);
  delivery.recv_bytes[0][0] = 4;
  Builder builder(0, 1);
  builder.copy(Slices{s0}, Slices{r0});
  EXPECT_EQ(fault({builder.build(), Builder(1, 1).build()}, delivery),
            "rank 0 copies send block 0 to a block of another size");
}

TEST(Executor, FindsBlocksThatShouldNotBeTouched) {
  Delivery delivery = exchange(2);
  delivery.expected[1][0] = {-1, 0};
  EXPECT_EQ(fault({pair_plan(0), pair_plan(1)}, delivery),
            "rank 1: receive block 0 was written though it has no source");
}

TEST(Executor, FindsBlocksThatNeverArrive) {
  const auto half = [](int rank) {
    Builder builder(rank, 2);
    send(builder, 1 - rank, 0, {s1});
    recv(builder, 1 - rank, 0, {r1});
    return builder.build();
  };
  EXPECT_EQ(fault({half(0), half(1)}, exchange(2)), "rank 0: receive block 0 was never written");
}

TEST(Executor, FindsPeersThatDoNotExist) {
  for (int peer : {-1, 0, 2}) {  // a message to oneself is none either
    Builder builder(0, 2);
    send(builder, peer, 0, {s0});
    EXPECT_EQ(fault({builder.build(), pair_plan(1)}, exchange(2)),
              "rank 0: operation 0 has peer " + std::to_string(peer));
  }
}

TEST(Executor, FindsBlocksThatDoNotExist) {
  EXPECT_EQ(
      fault({test::with_slice(pair_plan(0), 0, 1, {Buffer::send, 2}), pair_plan(1)}, exchange(2)),
      "rank 0: operation 0 names send block 2");
  EXPECT_EQ(
      fault({test::with_slice(pair_plan(0), 1, 0, {Buffer::recv, 9}), pair_plan(1)}, exchange(2)),
      "rank 0: operation 1 names receive block 9");
  EXPECT_EQ(fault({test::with_slice(pair_plan(0), 0, 0, {Buffer::scratch, 0}), pair_plan(1)},
                  exchange(2)),
            "rank 0: operation 0 names scratch block 0");
}

TEST(Executor, FindsPlansOfOtherRanks) {
  EXPECT_EQ(fault({pair_plan(1), pair_plan(0)}, exchange(2)), "plan 0 is for rank 1");
}

// In place. Three ranks with three blocks each: block j of rank r and block r of rank j change
// places.
Delivery swaps(std::uint64_t bytes = 5) {
  Delivery delivery;
  delivery.in_place = true;
  for (int rank = 0; rank < 3; ++rank) {
    delivery.recv_bytes.emplace_back(3, bytes);
    auto& expected = delivery.expected.emplace_back();
    for (int i = 0; i < 3; ++i) expected.push_back({i, static_cast<std::uint32_t>(rank)});
  }
  return delivery;
}

OpId swap(Builder& builder, int peer, int tag, const Slices& slices) {
  for (Slice s : slices) builder.slice(s);
  return builder.exchange(peer, tag);
}
Slice in(int block) { return {Buffer::recv, static_cast<std::uint32_t>(block)}; }

// One after the other, in the given order.
Plan swap_plan(int rank, std::initializer_list<int> peers) {
  Builder builder(rank, 3);
  OpId before = 0;
  for (int peer : peers) {
    const OpId op = swap(builder, peer, 0, {in(peer)});
    if (op > 0) builder.after(before, op);
    before = op;
  }
  return builder.build();
}

TEST(Executor, ProvesSwaps) {
  EXPECT_EQ(fault({swap_plan(0, {1, 2}), swap_plan(1, {0, 2}), swap_plan(2, {0, 1})}, swaps()),
            "none");
  EXPECT_EQ(fault({swap_plan(0, {1, 2}), swap_plan(1, {0, 2}), swap_plan(2, {0, 1})}, swaps(0)),
            "none");
}

// Ranks 0 and 1 change all their blocks in one exchange, then one block back: in place, so the
// second reads what the first wrote.
Plan there_and_back(int rank) {
  Builder builder(rank, 3);
  swap(builder, 1 - rank, 0, {in(0), in(1), in(2)});
  swap(builder, 1 - rank, 1, {in(1)});
  return builder.build();
}
Delivery after_there_and_back() {
  Delivery delivery = swaps();
  delivery.expected = {
      {{1, 0}, {0, 1}, {1, 2}}, {{0, 0}, {1, 1}, {0, 2}}, {{2, 0}, {-1, 0}, {-1, 0}}};
  return delivery;
}

TEST(Executor, ProvesSwapsOfSwappedBlocks) {
  EXPECT_EQ(fault({there_and_back(0), there_and_back(1), swap_plan(2, {})}, after_there_and_back()),
            "none");
}

TEST(Executor, FindsSwapsOfOneBlockInNoCertainOrder) {
  EXPECT_EQ(
      fault({test::without_edge(there_and_back(0), 0, 1), there_and_back(1), swap_plan(2, {})},
            after_there_and_back()),
      "rank 0: operations 0 and 1 touch receive block 1 in no certain order");
  Builder twice(2, 3);
  swap(twice, 0, 0, {in(0), in(0)});
  EXPECT_EQ(fault({swap_plan(0, {1}), swap_plan(1, {0}), twice.build()}, swaps()),
            "rank 2: operations 0 and 0 touch receive block 0 in no certain order");
}

TEST(Executor, FindsASwapWithTheWrongRank) {
  const Plan wrong = test::with_peer(swap_plan(0, {1, 2}), 0, 2, 1);
  EXPECT_EQ(fault({wrong, swap_plan(1, {0, 2}), swap_plan(2, {0, 1})}, swaps()),
            "rank 0 waits for a swap with tag 1 that rank 2 does not make");
  const Plan crossed =
      test::with_slice(test::with_slice(swap_plan(0, {1, 2}), 0, 0, in(2)), 1, 0, in(1));
  EXPECT_EQ(fault({crossed, swap_plan(1, {0, 2}), swap_plan(2, {0, 1})}, swaps()),
            "rank 0: receive block 1 is not block 0 of rank 1 (byte 0)");
  for (int peer : {-1, 0, 3})
    EXPECT_EQ(fault({test::with_peer(swap_plan(0, {1, 2}), 0, peer, 0), swap_plan(1, {0, 2}),
                     swap_plan(2, {0, 1})},
                    swaps()),
              "rank 0: operation 0 has peer " + std::to_string(peer));
}

TEST(Executor, FindsSwapsThatNobodyAnswers) {
  EXPECT_EQ(fault({swap_plan(0, {1, 2}), swap_plan(1, {2}), swap_plan(2, {0, 1})}, swaps()),
            "rank 0 waits for a swap with tag 0 that rank 1 does not make");
  EXPECT_EQ(
      fault({test::with_peer(there_and_back(0), 1, 1, 0), there_and_back(1), swap_plan(2, {})},
            after_there_and_back()),
      "rank 0 swaps twice with tag 0 with rank 1");
}

TEST(Executor, FindsASwapThatMeetsAMessage) {
  Builder sender(1, 3);
  sender.slice(in(0));
  sender.send(0, 0);
  EXPECT_EQ(fault({swap_plan(0, {1}), sender.build(), swap_plan(2, {})}, swaps()),
            "1 sends for 0 receives");
  Builder both(1, 3);
  both.slice(in(0));
  both.send(2, 0);
  Builder receiver(2, 3);
  receiver.slice(in(0));
  receiver.recv(1, 0);
  EXPECT_EQ(fault({swap_plan(0, {1}), both.build(), receiver.build()}, swaps()),
            "rank 0 waits for a swap with tag 0 that rank 1 does not make");
}

TEST(Executor, FindsSwapsOfDifferentSizes) {
  Delivery delivery = swaps();
  delivery.recv_bytes[2][1] = 4;
  EXPECT_EQ(fault({swap_plan(0, {1, 2}), swap_plan(1, {0, 2}), swap_plan(2, {0, 1})}, delivery),
            "block 0 that ranks 1 and 2 swap with tag 0 differs in size");
  Builder two(1, 3);
  swap(two, 0, 0, {in(0), in(1)});
  EXPECT_EQ(fault({swap_plan(0, {1}), two.build(), swap_plan(2, {})}, swaps()),
            "rank 0 swaps 1 blocks, rank 1 2");
}

// Each rank waits for the next one. Each swap alone would do: its partner has it too, only later.
TEST(Executor, FindsRanksThatSwapInACycle) {
  const std::string what =
      fault({swap_plan(0, {1, 2}), swap_plan(1, {2, 0}), swap_plan(2, {0, 1})}, swaps());
  EXPECT_EQ(what, "deadlock: 6 operations can never complete, among them operation 0 of rank 0");
  Builder free(0, 3);  // one rank that starts both at once breaks the cycle
  for (int peer : {1, 2}) swap(free, peer, 0, {in(peer)});
  EXPECT_EQ(fault({free.build(), swap_plan(1, {2, 0}), swap_plan(2, {0, 1})}, swaps()), "none");
}

TEST(Executor, FindsBlocksThatWereNotSwappedAndSuchThatShouldNotBe) {
  EXPECT_EQ(fault({swap_plan(0, {1}), swap_plan(1, {0, 2}), swap_plan(2, {1})}, swaps()),
            "rank 0: receive block 2 is not block 0 of rank 2 (byte 0)");
  Delivery delivery = swaps();
  delivery.expected[2][1] = {-1, 0};
  EXPECT_EQ(fault({swap_plan(0, {1, 2}), swap_plan(1, {0, 2}), swap_plan(2, {0, 1})}, delivery),
            "rank 2: receive block 1 is not block 1 of rank 2 (byte 0)");
}

TEST(Executor, FindsSwapsOfOtherBuffersAndOfNothing) {
  Delivery delivery = swaps();
  delivery.send_bytes.assign(3, {5});
  EXPECT_EQ(
      fault({test::with_slice(swap_plan(0, {1}), 0, 0, s0), swap_plan(1, {0}), swap_plan(2, {})},
            delivery),
      "rank 0: operation 0 writes to the send buffer");
  Builder builder(0, 3);
  builder.scratch(0);
  swap(builder, 1, 0, {in(1)});
  EXPECT_EQ(fault({test::with_slice(builder.build(), 0, 0, {Buffer::scratch, 0}), swap_plan(1, {0}),
                   swap_plan(2, {})},
                  delivery),
            "rank 0: operation 0 swaps scratch block 0");
  delivery.in_place = false;
  const std::string what =
      fault({swap_plan(0, {1}), swap_plan(1, {0}), swap_plan(2, {})}, delivery);
  EXPECT_TRUE(what.ends_with(" before anything was written there")) << what;
}

}  // namespace
}  // namespace tonari
