// SPDX-License-Identifier: BSD-3-Clause
// tonari/grid.hpp: what it adds to the C interface.
#include <gtest/gtest.h>
#include <tonari/grid.hpp>

#include <cstring>
#include <limits>
#include <stdexcept>

#include "support/oracle.hpp"

namespace {

using tonari::test::world_size;

constexpr std::int64_t rows = 16, columns = 12;  // of a rank

// Ranks on a plane that ends in dimension 0 and is periodic in dimension 1.
class Plane {
 public:
  Plane() {
    const std::array<int, 2> periodic{0, 1};
    MPI_Dims_create(world_size(), 2, ranks.data());
    MPI_Cart_create(MPI_COMM_WORLD, 2, ranks.data(), periodic.data(), 0, &cart);
  }
  ~Plane() { MPI_Comm_free(&cart); }
  Plane(const Plane&) = delete;
  Plane& operator=(const Plane&) = delete;

  tonari::GridShape shape(int storage) const {
    tonari::GridShape shape({rows * ranks[0], columns * ranks[1]}, 4, MPI_DOUBLE);
    shape.storage = storage, shape.copies = 2;
    if (storage != TONARI_STORAGE_ARRAY) shape.brick[0] = shape.brick[1] = 4;
    return shape;
  }

  MPI_Comm cart = MPI_COMM_NULL;
  std::array<int, 2> ranks{};
};

// Own cells and ghosts beyond the ends of the plane, which belong to the program, in both copies;
// other ghosts are not numbers.
void fill(const tonari::Grid& grid) {
  const std::vector<std::int64_t> first = grid.first();
  const std::int64_t width = grid.info().global[1], height = grid.info().global[0];
  const auto value = [&](std::span<const std::int64_t> x, bool own) {
    const std::int64_t i = first[0] + x[0], j = (first[1] + x[1] + width) % width;
    return own || i < 0 || i >= height ? static_cast<double>((i * 7 + j * 13) % 23) / 19
                                       : std::numeric_limits<double>::quiet_NaN();
  };
  for (int copy = 0; copy < 2; ++copy) {
    grid.for_each_cell<double>(
        TONARI_PART_OWN, [&](auto x, double& cell) { cell = value(x, true); }, 0, copy);
    grid.for_each_cell<double>(
        TONARI_PART_GHOSTS, [&](auto x, double& cell) { cell = value(x, false); }, 0, copy);
  }
}

// By the fixed rule: which exchange is taken makes no difference here.
std::array<tonari::Request, 2> exchanges(const tonari::Grid& grid) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "tonari_tune", "off");
  std::array requests{grid.exchange_init(0, info), grid.exchange_init(1, info)};
  MPI_Info_free(&info);
  return requests;
}

constexpr auto five = tonari::star<2, 1>();
constexpr std::array coefficients{0.4, 0.15};
constexpr int steps = 9;

std::vector<double> exchanged_every_step(const Plane& plane) {
  const tonari::Grid grid(plane.cart, plane.shape(TONARI_STORAGE_ARRAY));
  std::array halo = exchanges(grid);
  fill(grid);
  const tonari_box own{{0, 0}, {rows, columns}};
  for (int t = 0; t < steps; ++t) {
    const auto old = static_cast<std::size_t>(t % 2);
    halo[old].start(), halo[old].wait();
    tonari::apply(five, coefficients, grid.array(), grid.data<double>(0, t % 2),
                  grid.data<double>(0, 1 - t % 2), own);
  }
  return grid.export_own<double>(0, steps % 2);
}

std::vector<double> exchanged_every_few(const Plane& plane, int storage) {
  const tonari::Grid grid(plane.cart, plane.shape(storage));
  std::array halo = exchanges(grid);
  fill(grid);
  const tonari::Expansion expansion = grid.expansion(five.radius);
  EXPECT_EQ(expansion.steps(), 4);
  for (int t = 0; t < steps; ++t) {
    const int old = t % 2, since = t % expansion.steps();
    tonari::Request& exchange = halo[static_cast<std::size_t>(old)];
    if (since == 0) exchange.start(), exchange.wait();
    const double* in = grid.data<double>(0, old);
    double* out = grid.data<double>(0, 1 - old);
    const tonari_box box = expansion.box(since);
    if (storage == TONARI_STORAGE_ARRAY)
      tonari::apply(five, coefficients, grid.array(), in, out, box);
    else
      tonari::apply(five, coefficients, grid.bricks<4, 4>(), in, out,
                    tonari::bricks_in(grid.bricks(), box), box);
  }
  return grid.export_own<double>(0, steps % 2);
}

// Ghosts beyond the ends are the program's and are not computed, though the others are.
TEST(CppGrid, ExpansionStopsWhereThePlaneEnds) {
  const Plane plane;
  const std::vector<double> expected = exchanged_every_step(plane);
  for (const double x : expected) ASSERT_EQ(x, x);  // no NaN came in
  for (const int storage : {TONARI_STORAGE_ARRAY, TONARI_STORAGE_BRICK, TONARI_STORAGE_MAPPED}) {
    const std::vector<double> found = exchanged_every_few(plane, storage);
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(double)), 0)
        << "storage " << storage;
  }
}

TEST(CppGrid, TablesStayWhenTheGridMoves) {
  const Plane plane;
  tonari::Grid made(plane.cart, plane.shape(TONARI_STORAGE_BRICK));
  const auto bricks = made.bricks<4, 4>();
  tonari::Grid grid = std::move(made);
  EXPECT_EQ(&bricks.table(), &grid.bricks());
  EXPECT_EQ(bricks.table().own_count, rows / 4 * (columns / 4));
  EXPECT_EQ(grid.interior_bricks().size() + grid.surface_bricks().size(), grid.own_bricks().size());
  tonari::at(bricks, grid.data<double>(), 5, -3) = 7;
  EXPECT_EQ(grid.at<double>(std::array<std::int64_t, 2>{5, -3}), 7);
}

TEST(CppGrid, ImportAndExportAreEachOthersInverse) {
  const Plane plane;
  const tonari::Grid grid(plane.cart, plane.shape(TONARI_STORAGE_MAPPED));
  std::vector<double> cells(rows * columns);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<double>(i);
  grid.import_own<double>(cells, 0, 1);
  EXPECT_EQ(grid.export_own<double>(0, 1), cells);
  EXPECT_EQ(grid.export_own<double>(0, 0), std::vector<double>(cells.size(), 0.0));
  EXPECT_EQ(grid.at<double>(std::array<std::int64_t, 2>{3, 5}, 0, 1), cells[3 * columns + 5]);
}

TEST(CppGrid, StartsWithOtherArrays) {
  const Plane plane;
  const tonari::Grid grid(plane.cart, plane.shape(TONARI_STORAGE_ARRAY));
  tonari::Request exchange = grid.exchange_init(0);
  void* const other[] = {grid.data<double>(0, 1)};
  grid.import_own<double>(std::vector<double>(rows * columns, 3.0), 0, 1);
  grid.start_with(exchange, other), exchange.wait();
  exchange.start(), exchange.wait();  // they stay bound
  EXPECT_EQ(grid.export_own<double>(0, 0), std::vector<double>(rows * columns, 0.0));
  EXPECT_THROW(grid.start_with(exchange, {}), tonari::Failure);
}

// C would read an address for each copy.
TEST(CppGrid, TooFewArraysOnOneRank) {
  const Plane plane;
  const tonari::GridShape shape = plane.shape(TONARI_STORAGE_ARRAY);
  std::vector<double> cells(4 * rows * columns + 1000);
  const std::vector<void*> arrays(static_cast<std::size_t>(shape.copies), cells.data());
  const bool errs = tonari::test::world_rank() == 0;
  const std::span<void* const> given = std::span(arrays).first(errs ? 1 : arrays.size());
  try {
    const tonari::Grid grid(plane.cart, shape, given);
    ADD_FAILURE() << "one rank has too few arrays";
  } catch (const tonari::Failure& failure) {
    EXPECT_EQ(failure.code(), TONARI_ERR_ARGUMENT);
    EXPECT_CONTAINS(failure.what(), (tonari::test::world_size() > 1 ? "rank 0: " : "") +
                                        std::string("tonari::Grid: there are 1 arrays; there"));
  }
}

// Cells, and ghosts of the faces of dimension 1, which is periodic, are added up.
TEST(CppGrid, GhostsGoBack) {
  const Plane plane;
  const tonari::Grid grid(plane.cart, plane.shape(TONARI_STORAGE_ARRAY));
  const auto set = [&](double own, double ghost) {
    grid.for_each_cell<double>(TONARI_PART_OWN, [&](auto, double& cell) { cell = own; }, 0, 1);
    grid.for_each_cell<double>(TONARI_PART_GHOSTS, [&](auto, double& cell) { cell = ghost; }, 0, 1);
  };
  tonari_ghosts faces{};
  faces.along = 1, faces.lower[0] = faces.upper[0] = TONARI_GHOSTS_NONE;
  const auto cell = [&](std::int64_t i, std::int64_t j) {
    return grid.at<double>(std::array<std::int64_t, 2>{i, j}, 0, 1);
  };
  set(5, 2);
  tonari::Request add = grid.reverse_init(1, MPI_SUM, faces);
  add.start(), add.wait();
  EXPECT_EQ(cell(0, 0), 7);
  EXPECT_EQ(cell(0, 3), 7);
  EXPECT_EQ(cell(0, 4), 5);
  set(5, 2);
  grid.reverse(1, MPI_MIN, faces);
  EXPECT_EQ(cell(rows - 1, columns - 4), 2);
  EXPECT_EQ(cell(rows - 1, columns - 5), 5);
  set(5, 2);
  faces.lower[1] = 1;
  tonari::Request fill = grid.forward_init(1, faces);
  fill.start(), fill.wait();
  EXPECT_EQ(cell(0, -1), 5);
  EXPECT_EQ(cell(0, -2), 2);
  EXPECT_EQ(cell(0, columns + 3), 5);
  grid.forward(1);
  EXPECT_EQ(cell(0, -2), 5);
}

TEST(CppGrid, WhatDoesNotFitThrows) {
  const Plane plane;
  const tonari::Grid grid(plane.cart, plane.shape(TONARI_STORAGE_BRICK)),
      array(plane.cart, plane.shape(TONARI_STORAGE_ARRAY));
  EXPECT_THROW((grid.bricks<8, 8>()), std::invalid_argument);
  EXPECT_THROW(grid.bricks(1), tonari::Failure);
  EXPECT_THROW(grid.array(), tonari::Failure);
  EXPECT_THROW(array.bricks(), tonari::Failure);
  EXPECT_THROW(grid.data<float>(), tonari::Failure);
  EXPECT_THROW(grid.data<double>(0, 2), tonari::Failure);
  EXPECT_THROW(grid.at<double>(std::array<std::int64_t, 3>{}), tonari::Failure);
  EXPECT_THROW(grid.import_own<double>(std::vector<double>(3)), tonari::Failure);
  EXPECT_THROW(grid.expansion(5), std::invalid_argument);  // ghosts are 4 wide
}

}  // namespace
