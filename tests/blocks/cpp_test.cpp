// SPDX-License-Identifier: BSD-3-Clause
// tonari/blocks.hpp: what it adds to the C interface.
#include <gtest/gtest.h>
#include <tonari/blocks.hpp>

#include "support/contains.hpp"
#include "support/oracle.hpp"

namespace {

using tonari::test::Info;
using tonari::test::world_rank;
using tonari::test::world_size;

// A periodic line of blocks of 4 cells, two on each rank.
TEST(BlocksCpp, ALineOfBlocks) {
  const int ranks = world_size();
  std::vector<tonari_box> boxes;
  std::vector<int> owners;
  for (int b = 0; b < 2 * ranks; ++b) {
    boxes.push_back({{4 * b}, {4 * b + 4}});
    owners.push_back(b % ranks);
  }
  tonari::BlocksShape shape(boxes, owners, 1, 1, MPI_DOUBLE);
  shape.periodic[0] = 1, shape.domain.end[0] = 8 * ranks;
  tonari::Blocks blocks(MPI_COMM_WORLD, shape);
  ASSERT_EQ(blocks.own(), (std::vector<std::int64_t>{world_rank(), world_rank() + ranks}));
  EXPECT_EQ(blocks.array(0).own[0], 4);

  std::vector<std::array<double, 6>> values(2);
  std::vector<void*> arrays;
  for (std::size_t k = 0; k < 2; ++k) {
    for (int x = -1; x < 5; ++x)
      values[k][static_cast<std::size_t>(x + 1)] =
          static_cast<double>(4 * blocks.own()[k] + x) * (x >= 0 && x < 4);
    arrays.push_back(values[k].data());
  }
  const tonari::Blocks moved = std::move(blocks);
  tonari::Request fill = moved.forward_init(arrays, {}, Info{{"tonari_start_with", "yes"}});
  fill.start(), fill.wait();
  const auto wrapped = [&](std::int64_t x) {
    return static_cast<double>((x + 8 * ranks) % (8 * ranks));
  };
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(values[k][0], wrapped(4 * moved.own()[k] - 1));
    EXPECT_EQ(values[k][5], wrapped(4 * moved.own()[k] + 4));
  }
  std::vector<std::array<double, 6>> more(values);
  more[0][0] = more[1][5] = -1;
  moved.start_with(fill, std::vector<void*>{more[0].data(), more[1].data()});
  fill.wait();
  EXPECT_EQ(more, values);
  EXPECT_THROW(moved.start_with(fill, {}), tonari::Failure);
  moved.start_with(fill, arrays);
  fill.wait();
  moved.reverse(arrays, MPI_MAX);  // ghosts are what their owners have
  EXPECT_EQ(values[0][1], static_cast<double>(4 * moved.own()[0]));
  moved.reverse(arrays);
  EXPECT_EQ(values[0][1], 2 * static_cast<double>(4 * moved.own()[0]));
  EXPECT_EQ(values[0][2], static_cast<double>(4 * moved.own()[0] + 1));
  moved.forward(arrays);
  EXPECT_EQ(values[1][0], 2 * wrapped(4 * moved.own()[1] - 1));
  EXPECT_THROW(moved.forward({}), tonari::Failure);
}

TEST(BlocksCpp, EveryBoxHasAnOwner) {
  const bool errs = world_rank() == 0;
  const std::vector<tonari_box> boxes{{{0}, {4}}, {{4}, {8}}};
  const std::vector<int> owners{0, world_size() - 1};
  const tonari::BlocksShape shape(boxes, std::span(owners).first(errs ? 1 : 2), 1, 1, MPI_DOUBLE);
  const auto refused = [](const std::string& sentence, auto call) {
    try {
      call();
      ADD_FAILURE() << sentence;
    } catch (const tonari::Failure& failure) {
      EXPECT_EQ(failure.code(), TONARI_ERR_ARGUMENT);
      EXPECT_CONTAINS(failure.what(), (world_size() > 1 ? "rank 0: " : "") + sentence);
    }
  };
  refused("tonari::BlocksShape: there are 2 boxes and 1 owners; every box must have one",
          [&] { const tonari::Blocks none(MPI_COMM_WORLD, shape); });
  const tonari::Blocks blocks(MPI_COMM_WORLD, tonari::BlocksShape(boxes, owners, 1, 1, MPI_DOUBLE));
  std::vector<double> values(6);
  const std::vector<void*> few(errs ? 0 : blocks.own().size(), values.data());
  refused("tonari::Blocks: there are 0 arrays; there must be ",
          [&] { (void)blocks.forward_init(few); });
}

}  // namespace
