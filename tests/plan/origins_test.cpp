// SPDX-License-Identifier: BSD-3-Clause
#include "plan/origins.hpp"

#include <gtest/gtest.h>

#include "plan/builder.hpp"
#include "support/errors.hpp"

namespace tonari::test {
namespace {

constexpr Slice sent_block(std::uint32_t block) { return {Buffer::send, block}; }
constexpr Slice received_block(std::uint32_t block) { return {Buffer::recv, block}; }

// Rank 1 gets two blocks, keeps one and a copy of it, and passes on both with one of its own.
Plan passing_on(Builder& builder) {
  const Slice passed = builder.scratch(0), copied = builder.scratch(1);
  builder.slice(passed), builder.slice(received_block(0));
  builder.recv(0, 3);
  builder.copy(std::vector{received_block(0), sent_block(2)},
               std::vector{received_block(1), copied});
  builder.slice(received_block(1)), builder.slice(passed), builder.slice(copied);
  builder.send(2, 5);
  return builder.build();
}

TEST(Origins, AreWhereBlocksArrivedOrWereSent) {
  Builder builder(1, 2);
  const Plan plan = passing_on(builder);
  const Origins origins(plan);
  const std::span<const Slice> sent = plan.slices(2);
  EXPECT_EQ(origins.of(received_block(0)).recv, 0u);
  EXPECT_EQ(origins.of(received_block(0)).slice, 1u);
  EXPECT_EQ(origins.of(sent[0]).slice, 1u);  // by way of a copy
  EXPECT_TRUE(origins.of(sent[1]).arrives());
  EXPECT_EQ(origins.of(sent[1]).slice, 0u);
  EXPECT_FALSE(origins.of(sent[2]).arrives());
  EXPECT_EQ(origins.of(sent[2]).slice, 2u);
  const std::vector<TagOrder> orders = origins.tag_orders();
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].before, 3);
  EXPECT_EQ(orders[0].after, 5);
}

TEST(Origins, RefuseABlockWithTwoWriters) {
  Builder builder(0, 1);
  for (const int tag : {0, 1}) builder.slice(received_block(0)), builder.recv(1, tag);
  const Plan plan = builder.build();
  expect_sentence(error_of([&] { Origins{plan}; }), Errc::argument, {"writes one block twice"});
}

TEST(Origins, RefuseSwaps) {
  Builder builder(0, 1);
  builder.slice(received_block(0)), builder.exchange(1, 0);
  const Plan plan = builder.build();
  expect_sentence(error_of([&] { Origins{plan}; }), Errc::argument, {"swaps blocks in place"});
}

}  // namespace
}  // namespace tonari::test
