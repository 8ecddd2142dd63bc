// SPDX-License-Identifier: BSD-3-Clause
#include "plan/builder.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace tonari {
namespace {

using Slices = std::vector<Slice>;
using Ops = std::vector<OpId>;

constexpr Slice s0{Buffer::send, 0}, r0{Buffer::recv, 0}, r1{Buffer::recv, 1};

OpId send(Builder& builder, Slice s, int peer = 1, int tag = 0) {
  builder.slice(s);
  return builder.send(peer, tag);
}
OpId recv(Builder& builder, Slice s, int peer = 1, int tag = 0) {
  builder.slice(s);
  return builder.recv(peer, tag);
}

OpId exchange(Builder& builder, Slice s, int peer = 1, int tag = 0) {
  builder.slice(s);
  return builder.exchange(peer, tag);
}

Ops successors(const Plan& plan, OpId op) {
  return {plan.successors(op).begin(), plan.successors(op).end()};
}

TEST(Builder, RecordsOperationsAsGiven) {
  Builder builder(4, 2);
  const Slice t0 = builder.scratch(7), t1 = builder.scratch(3);
  builder.slice(s0);
  builder.slice(t0);
  EXPECT_EQ(builder.pending(), 2u);
  EXPECT_EQ(builder.send(6, 9), 0u);
  EXPECT_EQ(builder.pending(), 0u);
  EXPECT_EQ(recv(builder, r1, 5, 8), 1u);
  EXPECT_EQ(builder.copy(Slices{s0, r1}, Slices{r0, t1}), 2u);
  const Plan plan = builder.build();
  EXPECT_EQ(plan.rank(), 4);
  ASSERT_EQ(plan.size(), 3u);
  EXPECT_EQ(plan[0].kind, Kind::send);
  EXPECT_EQ(plan[0].peer, 6);
  EXPECT_EQ(plan[0].tag, 9);
  EXPECT_EQ(Slices(plan.slices(0u).begin(), plan.slices(0u).end()), (Slices{s0, t0}));
  EXPECT_EQ(plan[1].kind, Kind::recv);
  EXPECT_EQ(plan[2].kind, Kind::copy);
  EXPECT_EQ(plan[2].peer, 4);
  EXPECT_EQ(Slices(plan.copy_sources(plan[2]).begin(), plan.copy_sources(plan[2]).end()),
            (Slices{s0, r1}));
  EXPECT_EQ(Slices(plan.copy_targets(plan[2]).begin(), plan.copy_targets(plan[2]).end()),
            (Slices{r0, t1}));
  EXPECT_EQ(std::vector<std::uint32_t>(plan.scratch_like().begin(), plan.scratch_like().end()),
            (std::vector<std::uint32_t>{7, 3}));
}

TEST(Builder, AReaderWaitsForItsWriter) {
  Builder builder(0, 2);
  const OpId write = recv(builder, r0), read = send(builder, r0, 2), other = send(builder, s0, 3);
  const Plan plan = builder.build();
  EXPECT_EQ(successors(plan, write), Ops{read});
  EXPECT_EQ(plan.predecessor_count(read), 1u);
  EXPECT_EQ(plan.predecessor_count(other), 0u);
}

TEST(Builder, AWriterWaitsForEarlierReadersOnly) {
  Builder builder(0, 2);
  const OpId first = recv(builder, r0), a = send(builder, r0, 2), b = send(builder, r0, 3),
             second = recv(builder, r0, 1, 1), c = send(builder, r0, 4);
  const Plan plan = builder.build();
  EXPECT_EQ(successors(plan, first), (Ops{a, b}));  // not second: the readers stand between
  EXPECT_EQ(successors(plan, a), Ops{second});
  EXPECT_EQ(successors(plan, b), Ops{second});
  EXPECT_EQ(successors(plan, second), Ops{c});
  EXPECT_EQ(plan.predecessor_count(second), 2u);
}

TEST(Builder, AWriterWaitsForAnEarlierWriter) {
  Builder builder(0, 2);
  const OpId first = recv(builder, r0), second = recv(builder, r0, 1, 1);
  EXPECT_EQ(successors(builder.build(), first), Ops{second});
}

TEST(Builder, AnExchangeReadsAndWrites) {
  Builder builder(0, 2);
  const OpId write = recv(builder, r0), read = send(builder, r0, 2),
             swap = exchange(builder, r0, 3), again = exchange(builder, r0, 4),
             other = exchange(builder, r1, 5), last = send(builder, r0, 6);
  const Plan plan = builder.build();
  EXPECT_EQ(plan[swap].kind, Kind::exchange);
  EXPECT_EQ(plan[swap].peer, 3);
  EXPECT_EQ(successors(plan, write), (Ops{read, swap}));
  EXPECT_EQ(successors(plan, read), Ops{swap});
  EXPECT_EQ(successors(plan, swap), Ops{again});
  EXPECT_EQ(successors(plan, again), Ops{last});
  EXPECT_EQ(plan.predecessor_count(other), 0u);
  EXPECT_EQ(plan.levels(), (std::vector<int>{1, 2, 3, 4, 1, 5}));
}

TEST(Builder, OnlyReceiveBlocksAreSwapped) {
  const Error e = test::error_of([] {
    Builder builder(0, 1);
    exchange(builder, s0);
  });
  EXPECT_EQ(e.code(), Errc::internal);
  EXPECT_STREQ(e.what(), "a plan swaps a block that is not in the receive buffer");
  EXPECT_EQ(test::error_of([] {
              Builder builder(0, 1);
              exchange(builder, builder.scratch(0));
            }).code(),
            Errc::internal);
}

TEST(Builder, WaitsForWhatItIsToldTo) {
  Builder builder(0, 2);
  const OpId a = exchange(builder, r0), b = exchange(builder, r1, 2);
  builder.after(a, b);
  builder.after(a, b);  // said twice, meant once
  EXPECT_STREQ(test::error_of([&] { builder.after(b, a); }).what(),
               "operation 0 of a plan of 2 cannot wait for operation 1");
  EXPECT_EQ(test::error_of([&] { builder.after(a, 2); }).code(), Errc::internal);
  const Plan plan = builder.build();
  EXPECT_EQ(successors(plan, a), Ops{b});
  EXPECT_EQ(plan.predecessor_count(b), 1u);
}

TEST(Builder, ReadersRunSideBySide) {
  Builder builder(0, 2);
  send(builder, s0, 1);
  send(builder, s0, 2);
  const Plan plan = builder.build();
  EXPECT_EQ(plan.predecessor_count(0) + plan.predecessor_count(1), 0u);
}

TEST(Builder, ReceiveAndScratchBlocksOfOneNumberAreDifferentPlaces) {
  Builder builder(0, 1);
  const Slice t0 = builder.scratch(0);
  recv(builder, r0);
  send(builder, t0);
  EXPECT_EQ(builder.build().predecessor_count(1), 0u);
}

TEST(Builder, ManyBlocksBetweenTwoOperationsMakeOneEdge) {
  Builder builder(0, 2);
  builder.slice(r0);
  builder.slice(r1);
  builder.recv(1, 0);
  builder.slice(r1);
  builder.slice(r0);
  builder.send(2, 1);
  const Plan plan = builder.build();
  EXPECT_EQ(successors(plan, 0), Ops{1});
  EXPECT_EQ(plan.predecessor_count(1), 1u);
}

TEST(Builder, AnEmptyPlanIsAPlan) {
  const Plan plan = Builder(3, 0).build();
  EXPECT_EQ(plan.size(), 0u);
  EXPECT_EQ(plan.depth(), 0);
}

TEST(Builder, RefusesOperationsWithoutSlices) {
  const Error e = test::error_of([] { Builder(0, 1).send(1, 0); });
  EXPECT_EQ(e.code(), Errc::internal);
  EXPECT_STREQ(e.what(), "an operation without slices was added to a plan");
  EXPECT_EQ(test::error_of([] { Builder(0, 1).copy({}, {}); }).code(), Errc::internal);
}

TEST(Builder, RefusesToWriteToTheSendBuffer) {
  const Error e = test::error_of([] {
    Builder builder(0, 1);
    recv(builder, s0);
  });
  EXPECT_EQ(e.code(), Errc::internal);
  EXPECT_STREQ(e.what(), "a plan writes to the send buffer");
  EXPECT_EQ(test::error_of([] { Builder(0, 1).copy(Slices{r0}, Slices{s0}); }).code(),
            Errc::internal);
}

// Four independent rounds; the k-th waits for both messages of round k - ports.
Plan rounds(int ports) {
  Builder builder(0, 4);
  for (int k = 0; k < 4; ++k) {
    send(builder, s0, 1, k);
    recv(builder, {Buffer::recv, static_cast<std::uint32_t>(k)}, 2, k);
  }
  builder.limit_ports(ports);
  return builder.build();
}

TEST(Builder, PortsLimitHowManyRoundsRunAtATime) {
  EXPECT_EQ(rounds(0).depth(), 1);
  EXPECT_EQ(rounds(1).depth(), 4);
  EXPECT_EQ(rounds(2).depth(), 2);
  EXPECT_EQ(rounds(3).depth(), 2);
  EXPECT_EQ(rounds(4).depth(), 1);
  const Plan plan = rounds(2);
  EXPECT_EQ(successors(plan, 0), (Ops{4, 5}));
  EXPECT_EQ(successors(plan, 1), (Ops{4, 5}));
  EXPECT_EQ(plan.predecessor_count(2), 0u);
  EXPECT_EQ(plan.predecessor_count(7), 2u);
}

TEST(Plan, LevelsCountMessagesOnTheLongestChain) {
  Builder builder(0, 2);
  const Slice t0 = builder.scratch(0);
  builder.copy(Slices{s0}, Slices{r1});  // no message
  send(builder, s0, 1, 0);               // 1
  recv(builder, t0, 2, 0);               // 1
  send(builder, t0, 1, 1);               // 2
  // waits for nothing here, but its sender sends no earlier than this rank does: 2
  recv(builder, r0, 2, 1);
  const Plan plan = builder.build();
  EXPECT_EQ(plan.levels(), (std::vector<int>{0, 1, 1, 2, 2}));
  EXPECT_EQ(plan.depth(), 2);
}

}  // namespace
}  // namespace tonari
