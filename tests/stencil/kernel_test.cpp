// SPDX-License-Identifier: BSD-3-Clause
// Kernels of one's own: one kernel on bricks and arrays, with the cells of neighbors in every
// direction.
#include "stencil/subdomain.hpp"

namespace tonari {
namespace {

using namespace test;

// Where cells hold their own coordinates, every access tells where it led.
double code(const Cell<3>& x) {
  return static_cast<double>((x[0] + 50) * 1000000 + (x[1] + 50) * 1000 + x[2] + 50);
}

struct Pair {
  explicit Pair(std::mt19937& random)
      : table(3, {4, 2, 8}, {1, 1, 1}, {2, 3, 1}, {1, 1, 1}, &random, 2),
        in(packed_array(3, {4, 2, 8}, {8, 6, 8}, {4, 2, 8})),
        out(in.layout),
        brick_in(table),
        brick_out(table) {
    over_cells<3>({{-4, -2, -8}, {12, 8, 16}},
                  [&](const Cell<3>& x) { in(x) = brick_in(x) = code(x); });
  }
  BrickTable table;
  ArrayField<double, 3> in, out;
  BrickField<double, 4, 2, 8> brick_in, brick_out;
};

TEST(Kernels, SeeOneBrickFurtherInEveryDirection) {
  std::mt19937 random(1);
  Pair field(random);
  int blocks = 0;
  for_each_brick(
      bricks<4, 2, 8>(*field.table),
      BrickList(0, static_cast<std::int32_t>(field.table->own_count)),
      [&](const auto& block) {
        const auto u = block(field.brick_in.base());
        ++blocks;
        for (int z = -4; z < 8; ++z)
          for (int y = -2; y < 4; ++y)
            for (int x = -8; x < 16; ++x)
              ASSERT_EQ(u(z, y, x),
                        code({block.cell(0) + z, block.cell(1) + y, block.cell(2) + x}));
      },
      Threads::one);
  EXPECT_EQ(blocks, 6);
}

// One kernel with the two ways of reading, on both storages and in several boxes. It uses corners.
TEST(Kernels, AreWrittenOnceForBricksAndArrays) {
  std::mt19937 random(2);
  for (int round = 0; round < 20; ++round) {
    Pair field(random);
    tonari_box box{};
    const std::array<std::int64_t, 3> least{-3, -1, -7}, most{11, 7, 15};
    for (std::size_t i = 0; i < 3; ++i) {
      box.first[i] = between(random, least[i], most[i] - 1);
      box.end[i] = between(random, box.first[i] + 1, most[i]);
    }
    const bool gathered = round % 2;
    const auto on = [&](const double* in, double* out) {
      return [=](const auto& block) {
        const auto sum = [&](const auto& u) {
          const auto v = block.writes(out);
          for (int z = block.first(0); z < block.end(0); ++z)
            for (int y = block.first(1); y < block.end(1); ++y)
              for (int x = block.first(2); x < block.end(2); ++x)
                v(z, y, x) = 3 * u(z - 1, y + 1, x - 1) - u(z + 1, y - 1, x + 1) + u(z, y, x + 1) -
                             u(z - 1, y - 1, x - 1);
        };
        if (gathered)
          sum(block.template gather<1>(in));
        else
          sum(block(in));
      };
    };
    for_each_tile<4, 2, 8>(field.in.layout, box, on(field.in.data.data(), field.out.data.data()));
    for_each_brick(bricks<4, 2, 8>(*field.table), bricks_in(*field.table, box), box,
                   on(field.brick_in.base(), field.brick_out.base()));
    over_cells<3>({{-4, -2, -8}, {12, 8, 16}}, [&](const Cell<3>& x) {
      const auto [z, y, k] = x;
      const double expected = inside<3>(x, box)
                                  ? 3 * code({z - 1, y + 1, k - 1}) - code({z + 1, y - 1, k + 1}) +
                                        code({z, y, k + 1}) - code({z - 1, y - 1, k - 1})
                                  : 0;
      ASSERT_EQ(field.out(x), expected);
      ASSERT_EQ(field.brick_out(x), expected);
    });
  }
}

TEST(Kernels, GatherAsFarAsABrick) {
  std::mt19937 random(3);
  Pair field(random);
  const tonari_box own{{0, 0, 0}, {8, 6, 8}};
  const auto check = [](const double* in) {
    return [in](const auto& block) {
      const auto u = block.template gather<2>(in);
      for (int z = -2; z < 6; ++z)
        for (int y = -2; y < 4; ++y)
          for (int x = -2; x < 10; ++x)
            ASSERT_EQ(u(z, y, x), code({block.cell(0) + z, block.cell(1) + y, block.cell(2) + x}));
    };
  };
  for_each_brick(bricks<4, 2, 8>(*field.table), bricks_in(*field.table, own),
                 check(field.brick_in.base()), Threads::one);
  for_each_tile<4, 2, 8>(field.in.layout, own, check(field.in.data.data()), Threads::one);
}

// Fields that are interleaved in bricks: the second field's base is one brick further.
TEST(Kernels, TakeSeveralFieldsOfABrick) {
  std::mt19937 random(4);
  Pair field(random);
  double* second = field.brick_in.base() + 4 * 2 * 8;
  apply(star<3, 1>(), {1, 0}, bricks<4, 2, 8>(*field.table), field.brick_in.base(), second,
        {0, static_cast<std::int32_t>(field.table->own_count)});
  over_cells<3>({{0, 0, 0}, {8, 6, 8}}, [&](const Cell<3>& x) {
    ASSERT_EQ(at(bricks<4, 2, 8>(*field.table), second, x[0], x[1], x[2]), code(x));
    ASSERT_EQ(field.brick_in(x), code(x));
  });
}

TEST(Kernels, RunOnTilesOfTheArraysDimensionsOnly) {
  const tonari_array array = packed_array(2, {1, 1}, {4, 4}, {1, 1});
  EXPECT_THROW((for_each_tile<4, 4, 4>(array, {{0, 0}, {4, 4}}, [](const auto&) {})),
               std::invalid_argument);
}

}  // namespace
}  // namespace tonari
