// SPDX-License-Identifier: BSD-3-Clause
// Mapped ghosts of copies that are written by streaming stores up to the very start of their
// exchange: what neighbors read after it is never older.
#include "support/streams.hpp"

#include <atomic>

#include "grid/grids.hpp"

namespace {

using namespace tonari::test;

using Word = std::uint64_t;
constexpr std::int64_t width = 64;  // cells of a surface, in one brick

tonari_grid ring_grid() {
  const int periodic = 1, size = world_size();
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
  shape.dims = 1, shape.type = MPI_UINT64_T, shape.storage = TONARI_STORAGE_MAPPED;
  shape.copies = 2, shape.mapped_ghosts = 1;
  shape.brick[0] = shape.lower[0] = shape.upper[0] = width, shape.cells[0] = 2 * width * size;
  tonari_grid grid = TONARI_GRID_NULL;
  must(tonari_grid_create(ring, &shape, nullptr, MPI_INFO_NULL, &grid));
  MPI_Comm_free(&ring);
  return grid;
}

// A copy of the grid: all that a rank owns is surface. Addresses are asked for once, so that
// nothing lies between the last store and the start, nor between the wait and the look.
struct Copy {
  Copy(tonari_grid grid, int copy)
      : own{cell(grid, copy, 0), cell(grid, copy, width)},
        ghosts{cell(grid, copy, 2 * width), cell(grid, copy, -width)} {
    must(tonari_grid_exchange_init(grid, copy, MPI_INFO_NULL, &halo));
  }
  static Word* cell(tonari_grid grid, int copy, std::int64_t x) {
    void* at = nullptr;
    must(tonari_grid_at(grid, 0, copy, 0, &x, &at));
    return static_cast<Word*>(at);
  }
  static Word content(int rank, int round, int side, std::int64_t x) {
    const auto place = static_cast<Word>(side * width + x);
    return static_cast<Word>(round) << 32 | static_cast<Word>(rank) << 16 | place;
  }
  static Word look(Word& cell) { return std::atomic_ref(cell).load(std::memory_order_relaxed); }

  // Every other cell: what fills no whole line stays longest where no other core sees it.
  void write(int rank, int round) const {
    for (const int side : {0, 1})
      for (std::int64_t x = 0; x < width; x += 2)
        stream(own[side] + x, content(rank, round, side, x));
  }
  // The cells that were written last are looked at first.
  long stale(int from, int round) const {
    long cells = 0;
    for (const int side : {1, 0})
      for (std::int64_t x = width; (x -= 2) >= 0;)
        cells += look(ghosts[side][x]) != content(from, round, side, x);
    return cells;
  }

  Word *own[2], *ghosts[2];  // by side of the owner
  tonari_request halo = TONARI_REQUEST_NULL;
};

TEST(GridStreams, AreSeenByTheNeighbors) {
  if (world_size() != 2) GTEST_SKIP() << "for two ranks";
  const int rank = world_rank();
  tonari_grid grid = ring_grid();
  Copy copies[] = {{grid, 0}, {grid, 1}};
  const long stale = stale_in_rounds([&](int round) {
    const Copy& copy = copies[round % 2];
    copy.write(rank, round);
    must(start_and_wait(copy.halo));
    return copy.stale(1 - rank, round);
  });
  EXPECT_EQ(stale, 0) << "cells";
  MPI_Barrier(MPI_COMM_WORLD);  // the end of a grid whose ghosts others read
  for (Copy& copy : copies) must(tonari_request_free(&copy.halo));
  must(tonari_grid_free(&grid));
}

}  // namespace
