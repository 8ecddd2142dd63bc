// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/printer.hpp"

#include <gtest/gtest.h>

#include "plan/builder.hpp"

namespace tonari {
namespace {

using Slices = std::vector<Slice>;

Plan small() {
  Builder builder(0, 4);
  const Slice t0 = builder.scratch(0);
  for (std::uint32_t i : {0u, 1u, 2u, 5u}) builder.slice({Buffer::send, i});
  builder.send(1, 0);
  for (std::uint32_t i : {1u, 0u}) builder.slice({Buffer::recv, i});
  builder.slice(t0);
  builder.slice({Buffer::recv, 2});
  builder.recv(2, 0);
  builder.slice(t0);
  builder.send(1, 1);
  builder.copy(Slices{{Buffer::send, 9}}, Slices{{Buffer::recv, 3}});
  return builder.build();
}

TEST(Printer, GroupsByRoundAndShortensRuns) {
  EXPECT_EQ(print(small()),
            "at once\n"
            "  copy s9 to r3  [1 block]\n"
            "round 1\n"
            "  send to   rank 1  s0-2 s5  [4 blocks]\n"
            "  recv from rank 2  r1 r0 t0 r2  [4 blocks]\n"
            "round 2\n"
            "  send to   rank 1  t0  [1 block]\n");
}

TEST(Printer, NamesPeersAndSizesOnDemand) {
  PrintOptions options;
  options.bytes = [](Slice s) { return 10 * s.block + 1; };
  options.peer = [](int peer) { return "(" + std::to_string(peer) + ", 0)"; };
  options.most_blocks = 2;
  EXPECT_EQ(print(small(), options),
            "at once\n"
            "  copy s9 to r3  [1 block, 91 B]\n"
            "round 1\n"
            "  send to   (1, 0)  s0-2 s5  [4 blocks, 84 B]\n"
            "  recv from (2, 0)  r1 r0 ...  [4 blocks, 34 B]\n"
            "round 2\n"
            "  send to   (1, 0)  t0  [1 block, 1 B]\n");
}

TEST(Printer, NamesSwapsByBothPartners) {
  Builder builder(0, 5);
  for (std::uint32_t i : {1u, 2u, 4u}) builder.slice({Buffer::recv, i});
  builder.exchange(3, 0);
  builder.slice({Buffer::recv, 4});
  builder.exchange(2, 0);
  PrintOptions options;
  options.bytes = [](Slice) { return 8; };
  EXPECT_EQ(print(builder.build(), options),
            "round 1\n"
            "  swap with rank 3  r1-2 r4  [3 blocks, 24 B]\n"
            "round 2\n"
            "  swap with rank 2  r4  [1 block, 8 B]\n");
}

TEST(Printer, AnEmptyPlanPrintsNothing) { EXPECT_EQ(print(Builder(0, 0).build()), ""); }

}  // namespace
}  // namespace tonari
