// SPDX-License-Identifier: BSD-3-Clause
// Reverse exchanges: every own cell becomes what the ghosts of it on all ranks make of it.
#include "grid/reverse_grid.hpp"
#include "support/contains.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/random_sizes.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

constexpr const char* back_on_arrays[] = {"plan", "pack", "datatypes"};
constexpr const char* back_on_bricks[] = {"layout", "basic", "plan"};
constexpr const char* back_on_mapped[] = {"memmap", "layout", "plan"};

template <class T>
void run(Random& random, Geometry g, int storage, MPI_Datatype type, MPI_Op op) {
  const int components = pick(random, 0, 3) == 0 ? 2 : 1;
  g.shape.type = type, g.element_bytes = sizeof(T) * static_cast<std::size_t>(components);
  g.shape.fields = pick(random, 0, 2), g.shape.copies = 2;
  if (components > 1) MPI_Type_contiguous(components, type, &g.shape.type);
  const bool bricked = storage != TONARI_STORAGE_ARRAY;
  const Reverse<T> grid(g, storage, components);
  if (components > 1) MPI_Type_free(&g.shape.type);
  const auto& kinds = !bricked                          ? back_on_arrays
                      : storage == TONARI_STORAGE_BRICK ? back_on_bricks
                                                        : back_on_mapped;
  for (const char* kind : kinds) {
    const ChosenGhosts chosen =
        pick(random, 0, 2) == 0 ? ChosenGhosts{} : draw_ghosts(random, g, bricked);
    SCOPED_TRACE(g.text() + ", storage " + std::to_string(storage) + ", " + kind + ", " +
                 chosen.text(g));
    tonari_request request = TONARI_REQUEST_NULL;
    must(tonari_grid_reverse_init(grid.t.grid, 1, &chosen.ghosts, op,
                                  Info{{"tonari_halo", kind}, {"tonari_tune", "off"}}, &request));
    for (int round = 0; round < 2; ++round) {
      grid.fill(1, round);
      must(tonari_start(request));
      must(complete(request, (world_rank() + round) % 2 == 0));
      grid.expect(chosen, op, 1, round);
    }
    if (!bricked) {
      grid.fill(0, 7);
      must(tonari_grid_start_with(request, grid.t.arrays(0).data()));
      must(tonari_wait(request));
      grid.expect(chosen, op, 0, 7);
    }
    must(tonari_request_free(&request));
    grid.fill(0, 3);
    must(tonari_grid_reverse(grid.t.grid, 0, &chosen.ghosts, op));
    grid.expect(chosen, op, 0, 3);
  }
}

void run_any(Random& random, int dims, int storage) {
  const bool bricked = storage != TONARI_STORAGE_ARRAY;
  Geometry g = draw_geometry(random, dims, bricked);
  if (g.ours) MPI_Type_free(&g.shape.type);
  g.shape.interleaved = bricked && pick(random, 0, 1);
  const MPI_Op ops[] = {MPI_SUM, MPI_SUM, MPI_MIN, MPI_MAX};
  const MPI_Op op = ops[pick(random, 0, 3)];
  switch (pick(random, 0, 5)) {
    case 0:
      return run<float>(random, g, storage, MPI_FLOAT, op);
    case 1:
      return run<std::int32_t>(random, g, storage, MPI_INT32_T, op);
    case 2:
      return run<signed char>(random, g, storage, MPI_SIGNED_CHAR, op);
    case 3:
      return run<std::complex<double>>(random, g, storage, MPI_C_DOUBLE_COMPLEX, MPI_SUM);
    default:
      return run<double>(random, g, storage, MPI_DOUBLE, op);
  }
}

TEST(GridReverse, AddsGhostsToTheirOwnersOnRandomGrids) {
  Random random(21);
  for (int repeat = 0; repeat < (crowded() ? 2 : 6); ++repeat)
    for (int dims = 1; dims <= 3; ++dims) run_any(random, dims, TONARI_STORAGE_ARRAY);
}

TEST(GridReverse, OnBricksAndMappedStorage) {
  Random random(22);
  for (int repeat = 0; repeat < (crowded() ? 1 : 4); ++repeat)
    for (int dims = 1; dims <= 3; ++dims)
      for (const int storage : {TONARI_STORAGE_BRICK, TONARI_STORAGE_MAPPED})
        run_any(random, dims, storage);
}

// Timing runs the exchange many times; cells have their values again afterwards.
TEST(GridReverse, MeasuringLeavesCellsAlone) {
  const FreshWisdom little_time("0.02");
  const Reverse<double> grid(plain_geometry(2, 12), TONARI_STORAGE_ARRAY, 1);
  grid.fill(0, 0);
  tonari_request request = TONARI_REQUEST_NULL;
  must(tonari_grid_reverse_init(grid.t.grid, 0, nullptr, MPI_SUM, Info{{"tonari_tune", "measure"}},
                                &request));
  EXPECT_CONTAINS(std::string(tonari_request_describe(request)), "reverse halo of copy 0");
  must(tonari_start(request));
  must(tonari_wait(request));
  grid.expect({}, MPI_SUM, 0, 0);
  must(tonari_request_free(&request));
}

TEST(GridReverse, WhatCannotBeCombinedIsRefused) {
  const int last = world_size() - 1;
  const auto refused = [&](const TestGrid& t, const tonari_ghosts* ghosts, MPI_Op op,
                           const char* halo, int code, std::initializer_list<std::string> words) {
    tonari_request request = TONARI_REQUEST_NULL;
    expect_everywhere(
        tonari_grid_reverse_init(t.grid, 0, ghosts, op, Info{{"tonari_halo", halo}}, &request),
        code, words);
    EXPECT_EQ(request, TONARI_REQUEST_NULL);
  };
  Geometry g = plain_geometry(1, 12);
  const TestGrid doubles(g, TONARI_STORAGE_ARRAY), mapped(g, TONARI_STORAGE_MAPPED, true),
      bricks(g, TONARI_STORAGE_BRICK);
  g.shape.type = MPI_CHAR, g.element_bytes = 1;
  const TestGrid characters(g, TONARI_STORAGE_ARRAY);
  refused(doubles, nullptr, MPI_PROD, "auto", TONARI_ERR_ARGUMENT, {"MPI_SUM, MPI_MIN or MPI_MAX"});
  refused(characters, nullptr, MPI_SUM, "auto", TONARI_ERR_ARGUMENT,
          {"predefined one of C numbers"});
  refused(mapped, nullptr, MPI_SUM, "auto", TONARI_ERR_ARGUMENT, {"no reverse exchange"});
  refused(doubles, nullptr, MPI_SUM, "shift", TONARI_ERR_ALGORITHM,
          {"'shift'", "for a reverse exchange", "pack"});
  tonari_ghosts ghosts = TONARI_GHOSTS_INIT;
  ghosts.lower[0] = 5;
  refused(doubles, &ghosts, MPI_SUM, "auto", TONARI_ERR_ARGUMENT,
          {"ghosts.lower[0] is 5", "there are 4"});
  ghosts.lower[0] = 2;
  refused(bricks, &ghosts, MPI_SUM, "auto", TONARI_ERR_ARGUMENT,
          {"storage brick", "a side or none"});
  ghosts.lower[0] = 0, ghosts.along = 2;
  refused(doubles, &ghosts, MPI_SUM, "auto", TONARI_ERR_ARGUMENT, {"ghosts.along is 2"});
  ghosts.along = 0, ghosts.reserved[2] = 1;
  refused(doubles, &ghosts, MPI_SUM, "auto", TONARI_ERR_ARGUMENT, {"TONARI_GHOSTS_INIT"});
  if (world_size() == 1) return;
  refused(doubles, nullptr, world_rank() == last ? MPI_MAX : MPI_SUM, "auto", TONARI_ERR_MISMATCH,
          {"different operations"});
  ghosts.reserved[2] = 0, ghosts.lower[0] = world_rank() == last ? 2 : 3;
  refused(doubles, &ghosts, MPI_SUM, "auto", TONARI_ERR_MISMATCH, {"different ghosts"});
  expect_everywhere(world_rank() == last ? tonari_grid_reverse(doubles.grid, 0, nullptr, MPI_SUM)
                                         : tonari_grid_forward(doubles.grid, 0, nullptr),
                    TONARI_ERR_MISMATCH, {"forward exchange", "reverse one"});
}

}  // namespace
