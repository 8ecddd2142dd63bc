// SPDX-License-Identifier: BSD-3-Clause
#include "halo/field.hpp"

#include <algorithm>
#include <cstring>

#include "keys.hpp"

namespace bench::halo {

namespace {

constexpr double poison = -1e300;

tonari_grid_shape shape_of(const Torus& torus, const Cube& cube, Storage storage,
                           const Options& options) {
  tonari_grid_shape shape{};
  const bool array = storage == Storage::array || storage == Storage::fortran;
  shape.dims = 3, shape.type = MPI_DOUBLE, shape.copies = 2;
  for (int k = 0; k < 3; ++k) {
    shape.cells[k] = cube.size * torus.dims()[static_cast<std::size_t>(k)];
    shape.lower[k] = shape.upper[k] = cube.ghost;
    if (!array) shape.brick[k] = options.brick;
  }
  shape.storage = array                       ? TONARI_STORAGE_ARRAY
                  : storage == Storage::brick ? TONARI_STORAGE_BRICK
                                              : TONARI_STORAGE_MAPPED;
  if (storage == Storage::fortran) shape.order = TONARI_ORDER_FORTRAN;
  shape.mapped_ghosts = storage == Storage::mapped_ghosts;
  if (shape.storage == TONARI_STORAGE_MAPPED) shape.page = static_cast<std::size_t>(options.page);
  return shape;
}

long long wrap(long long x, long long extent) { return ((x % extent) + extent) % extent; }

}  // namespace

Field::Field(const Torus& torus, const Cube& cube, Storage storage, const Options& options)
    : torus_(torus), cube_(cube), storage_(storage) {
  const tonari_grid_shape shape = shape_of(torus, cube, storage, options);
  check(tonari_grid_create(torus.comm(), &shape, nullptr, MPI_INFO_NULL, &grid_));
  check(tonari_grid_get_info(grid_, &info_));
  check(bricked() ? tonari_grid_get_bricks(grid_, 0, &bricks_)
                  : tonari_grid_get_array(grid_, 0, &array_));
  for (int copy = 0; copy < 2; ++copy) {
    void* base = nullptr;
    check(tonari_grid_data(grid_, 0, copy, 0, &base));
    bases_[copy] = static_cast<double*>(base);
  }
}

long long Field::in_bricks(long long z, long long y, long long x) const {
  const long long cell[]{z, y, x};
  long long number = 0, inside = 0;
  for (int k = 0; k < 3; ++k) {
    const long long extent = bricks_.brick[k], from_ghosts = cell[k] + bricks_.lower[k] * extent;
    number = number * (bricks_.lower[k] + bricks_.own[k] + bricks_.upper[k]) + from_ghosts / extent;
    inside = inside * extent + from_ghosts % extent;
  }
  return bricks_.place[bricks_.number[number]] + inside;
}

// A whole number, exact in a double: the cell's place in the grid of all ranks, and the generation.
double Field::value(int generation, long long z, long long y, long long x) const {
  const long long cell[]{z, y, x};
  long long place = generation;
  for (std::size_t k = 0; k < 3; ++k) {
    const long long extent = cube_.size * torus_.dims()[k];
    place = place * extent + wrap(cell[k] + cube_.size * torus_.coordinates()[k], extent);
  }
  return static_cast<double>(place);
}

void Field::fill(int copy, int generation) const {
  for_each_cell(cube_.own(), [&](long long z, long long y, long long x) {
    at(copy, z, y, x) = value(generation, z, y, x);
  });
}

void Field::poison_ghosts(int copy) const {
  if (storage_ == Storage::mapped_ghosts) return;
  for (const Neighbor& each : torus_.neighbors())
    for_each_cell(cube_.ghosts(each),
                  [&](long long z, long long y, long long x) { at(copy, z, y, x) = poison; });
}

void Field::fill_ghosts(int copy, int generation) const {
  for (const Neighbor& each : torus_.neighbors())
    for_each_cell(cube_.ghosts(each), [&](long long z, long long y, long long x) {
      at(copy, z, y, x) = value(generation, z, y, x);
    });
}

bool Field::added(int copy, int generation) const {
  const auto copies = [&](long long x) {
    return 1 + (x < cube_.ghost) + (x >= cube_.size - cube_.ghost);
  };
  bool good = true;
  for_each_cell(cube_.own(), [&](long long z, long long y, long long x) {
    good = good &&
           at(copy, z, y, x) == value(generation, z, y, x) * (copies(z) * copies(y) * copies(x));
  });
  return good;
}

bool Field::delivered(int copy, int generation, int along) const {
  bool good = true;
  for (const Neighbor& each : torus_.neighbors())
    if (std::count(each.sign.begin(), each.sign.end(), 0) >= 3 - along)
      for_each_cell(cube_.ghosts(each), [&](long long z, long long y, long long x) {
        good = good && at(copy, z, y, x) == value(generation, z, y, x);
      });
  return good;
}

unsigned long long Field::checksum(int copy) const {
  unsigned long long sum = 0xCBF29CE484222325;
  for_each_cell(cube_.own(), [&](long long z, long long y, long long x) {
    unsigned long long bits;
    std::memcpy(&bits, &at(copy, z, y, x), sizeof bits);
    sum = (sum ^ bits) * 0x100000001B3;  // Fowler, Noll, Vo, by words
  });
  return sum;
}

}  // namespace bench::halo
