// SPDX-License-Identifier: BSD-3-Clause
// What a rank will have of a grid, asked before there is one: as the grid says of itself later.
#include <gtest/gtest.h>
#include <tonari/grid.hpp>

#include <array>

#include "support/mpi_main.hpp"
#include "support/ok.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

class LocalCells : public testing::Test {
 protected:
  void SetUp() override {
    const std::array<int, 2> periodic{0, 1};
    MPI_Dims_create(ranks, 2, sizes.data());
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes.data(), periodic.data(), 0, &cart);
  }
  void TearDown() override { MPI_Comm_free(&cart); }

  // Asked before, and then of the grid.
  void expect_as_later(const tonari_grid_shape& shape) {
    const int subdomains = std::max(1, shape.subdomains[0]) * std::max(1, shape.subdomains[1]);
    std::vector<tonari::LocalCells> before;
    for (int s = 0; s < subdomains; ++s) before.push_back(tonari::local_cells(cart, shape, s));
    const tonari::Grid grid(cart, shape);
    ASSERT_EQ(grid.subdomains(), subdomains);
    for (int s = 0; s < subdomains; ++s) {
      const tonari::LocalCells& local = before[static_cast<std::size_t>(s)];
      EXPECT_EQ(local.first, grid.first(s));
      EXPECT_EQ(local.cells, grid.cells(s));
      std::int64_t length = 1;
      for (std::size_t k = 0; k < 2; ++k)
        length *= shape.lower[k] + grid.cells(s)[k] + shape.upper[k];
      EXPECT_EQ(local.length, length);
    }
  }
  tonari::GridShape shape(std::int64_t rows, std::int64_t columns) const {
    tonari::GridShape made({rows, columns}, 2, MPI_DOUBLE);
    made.upper[1] = 1;
    return made;
  }

  int rank = world_rank(), ranks = world_size();
  std::array<int, 2> sizes{};
  MPI_Comm cart = MPI_COMM_NULL;
};

TEST_F(LocalCells, AreThoseOfTheGrid) {
  expect_as_later(shape(10 * sizes[0] + 1, 7 * sizes[1] + sizes[1] / 2));
  tonari::GridShape several = shape(11 * sizes[0], 12 * sizes[1]);
  several.subdomains[0] = 2, several.subdomains[1] = 3;
  expect_as_later(several);
  tonari::GridShape bricks({24 * sizes[0], 16 * sizes[1]}, 4, MPI_DOUBLE);
  bricks.storage = TONARI_STORAGE_BRICK, bricks.brick[0] = bricks.brick[1] = 4;
  expect_as_later(bricks);
}

TEST_F(LocalCells, OfSubdomainsThatRanksChoose) {
  std::array<int, 2> at{}, periods{}, extents{};
  MPI_Cart_get(cart, 2, extents.data(), periods.data(), at.data());
  tonari::GridShape local = shape(8 + at[0], 9 + 2 * at[1]);
  local.local = 1;
  expect_as_later(local);
}

TEST_F(LocalCells, ArraysOfThatLengthMakeTheGrid) {
  const tonari::GridShape wanted = shape(6 * sizes[0] + 1, 5 * sizes[1]);
  std::vector<double> array(static_cast<std::size_t>(tonari::local_cells(cart, wanted).length));
  void* const arrays[] = {array.data()};
  const tonari::Grid grid(cart, wanted, arrays);
  const auto index = std::array<std::int64_t, 2>{grid.cells()[0] + 1, grid.cells()[1]};
  EXPECT_EQ(&grid.at<double>(index), &array.back());
}

TEST_F(LocalCells, WrongArgumentsFailEverywhere) {
  const bool errs = rank == ranks - 1;
  tonari::GridShape wrong = shape(8 * sizes[0], 8 * sizes[1]);
  std::int64_t length = -7;
  expect_everywhere(tonari_grid_shape_cells(cart, &wrong, errs ? 1 : 0, nullptr, nullptr, &length),
                    TONARI_ERR_ARGUMENT, {"subdomain 1 does not exist"});
  expect_everywhere(
      tonari_grid_shape_cells(cart, errs ? nullptr : &wrong, 0, nullptr, nullptr, &length),
      TONARI_ERR_ARGUMENT, {"`shape` is NULL"});
  wrong.fields = errs ? -1 : 1;
  expect_everywhere(tonari_grid_shape_cells(cart, &wrong, 0, nullptr, nullptr, &length),
                    TONARI_ERR_ARGUMENT, {"fields"});
  EXPECT_EQ(length, -7);
  wrong.fields = 1;
  EXPECT_OK(tonari_grid_shape_cells(cart, &wrong, 0, nullptr, nullptr, nullptr));
}

}  // namespace
