// SPDX-License-Identifier: BSD-3-Clause
// Bad input of grids: all ranks get the same code and sentence, nothing is left behind, and a
// correct call afterwards works.
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "grid/grids.hpp"
#include "memory/held.hpp"
#include "support/same_error.hpp"
#include "support/wide_types.hpp"

namespace {

using namespace tonari::test;
using Words = std::initializer_list<std::string>;

using Shape = tonari_grid_shape;

class GridErrors : public testing::Test {
 protected:
  void TearDown() override {
    if (cart != MPI_COMM_NULL) MPI_Comm_free(&cart);
  }

  // A correct one: two dimensions, 16 x 16 cells per rank.
  Shape good(int storage = TONARI_STORAGE_BRICK) {
    const Geometry g = plain_geometry(2, 16);
    if (cart == MPI_COMM_NULL) cart = g.make_cart();
    Shape shape = g.shape_of(rank);
    shape.storage = storage;
    return shape;
  }

  void expect_refused(MPI_Comm comm, const Shape* shape, void* const* arrays, int code,
                      Words words) {
    auto* const unchanged = reinterpret_cast<tonari_grid>(static_cast<std::uintptr_t>(0x40));
    tonari_grid grid = unchanged;
    expect_everywhere(tonari_grid_create(comm, shape, arrays, MPI_INFO_NULL, &grid), code, words);
    EXPECT_EQ(grid, unchanged) << "output is written on success only";
  }
  // The same wrong thing on all ranks, and on the last one only.
  template <class Change>
  void refuse(const Shape& correct, Words words, Change change, int code = TONARI_ERR_ARGUMENT) {
    for (const bool everyone : {true, false}) {
      Shape shape = correct;
      if (everyone || rank == last) change(shape);
      expect_refused(cart, &shape, nullptr, code, words);
    }
    expect_usable();
  }
  // On all ranks: where one alone would be a mismatch.
  template <class Change>
  void refuse_all(Shape shape, Words words, Change change, int code = TONARI_ERR_ARGUMENT) {
    change(shape);
    expect_refused(cart, &shape, nullptr, code, words);
    expect_usable();
  }

  int make_and_free(const Shape& shape) const {
    tonari_grid grid = TONARI_GRID_NULL;
    const int code = tonari_grid_create(cart, &shape, nullptr, MPI_INFO_NULL, &grid);
    tonari_grid_free(&grid);
    return code;
  }
  void expect_usable() {
    TestGrid t(plain_geometry(2, 8), TONARI_STORAGE_ARRAY);
    t.fill(0, 2);
    tonari_request request = request_of(t, 0, "pack");
    must(start_and_wait(request));
    EXPECT_TRUE(t.holds(0, 2, false, false));
    must(tonari_request_free(&request));
  }

  int rank = world_rank(), ranks = world_size(), last = ranks - 1;
  MPI_Comm cart = MPI_COMM_NULL;
};

TEST_F(GridErrors, Communicators) {
  const Shape shape = good();
  expect_refused(MPI_COMM_NULL, &shape, nullptr, TONARI_ERR_ARGUMENT, {"MPI_COMM_NULL"});
  expect_refused(MPI_COMM_WORLD, &shape, nullptr, TONARI_ERR_TOPOLOGY,
                 {"no Cartesian topology", "MPI_Cart_create"});
  int sizes[6] = {ranks, 1, 1, 1, 1, 1}, periodic[6] = {};
  MPI_Comm six = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 6, sizes, periodic, 0, &six);
  expect_refused(six, &shape, nullptr, TONARI_ERR_TOPOLOGY, {"1 to 5 dimensions"});
  MPI_Comm_free(&six);
  expect_usable();
}

TEST_F(GridErrors, NullPlaces) {
  const Shape shape = good();
  expect_refused(cart, rank == last ? nullptr : &shape, nullptr, TONARI_ERR_ARGUMENT,
                 {"`shape` is NULL"});
  tonari_grid grid = TONARI_GRID_NULL;
  expect_everywhere(
      tonari_grid_create(cart, &shape, nullptr, MPI_INFO_NULL, rank == last ? nullptr : &grid),
      TONARI_ERR_ARGUMENT, {"`grid` is NULL"});
  expect_everywhere(tonari_grid_free(nullptr), TONARI_ERR_ARGUMENT, {"`grid` is NULL"});
  EXPECT_EQ(tonari_grid_free(&grid), TONARI_SUCCESS) << "null is freed like nothing";
  expect_usable();
}

TEST_F(GridErrors, Dimensions) {
  refuse(good(), {"shape.dims is 3", "2 dimensions"}, [](Shape& s) { s.dims = 3; });
  refuse(good(), {"cells in dimension 1 is 0", "positive"}, [](Shape& s) { s.cells[1] = 0; });
  refuse(good(), {"subdomains is -2"}, [](Shape& s) { s.subdomains[0] = -2; });
  refuse(good(), {"fields is -1"}, [](Shape& s) { s.fields = -1; });
  refuse(good(), {"copies is -1"}, [](Shape& s) { s.copies = -1; });
  refuse(good(), {"brick has -4 cells in dimension 1"}, [](Shape& s) { s.brick[1] = -4; });
  refuse(good(), {"reserved"}, [](Shape& s) { s.reserved[4] = 1; });
  refuse(good(), {"shape.storage is 3"}, [](Shape& s) { s.storage = 3; });
  refuse(good(TONARI_STORAGE_ARRAY), {"interleaved"}, [](Shape& s) { s.interleaved = 1; });
  refuse_all(
      good(TONARI_STORAGE_ARRAY), {"subdomains"},
      [](Shape& s) { s.local = 1, s.subdomains[0] = s.subdomains[1] = 1 << 16; },
      TONARI_ERR_OVERFLOW);
}

TEST_F(GridErrors, Types) {
  refuse(good(), {"shape.type", "not set"}, [](Shape& s) { s.type = MPI_DATATYPE_NULL; });
  MPI_Datatype gaps, shifted;
  MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
  const int one = 1;
  const MPI_Aint behind = 4;
  MPI_Type_create_hindexed(1, &one, &behind, MPI_INT, &shifted);
  refuse(good(), {"contiguous", "12 bytes with 8 bytes"}, [&](Shape& s) { s.type = gaps; });
  refuse(good(), {"contiguous"}, [&](Shape& s) { s.type = shifted; });
  MPI_Type_free(&gaps), MPI_Type_free(&shifted);
  const WideTypes wide;
  for (MPI_Datatype type : wide.all())
    refuse(good(), {"does not fit"}, [&](Shape& s) { s.type = type; }, TONARI_ERR_OVERFLOW);
  MPI_Datatype three;
  MPI_Type_contiguous(3, MPI_INT, &three);
  // pages hold no whole number of them
  refuse_all(good(TONARI_STORAGE_MAPPED), {"12"}, [&](Shape& s) { s.type = three; });
  MPI_Type_free(&three);
}

TEST_F(GridErrors, HalosAndBricks) {
  for (const int storage : {TONARI_STORAGE_BRICK, TONARI_STORAGE_MAPPED}) {
    refuse_all(good(storage),
               {"halo widths 3 and 4 along dimension 0", "no multiples of the brick (4)"},
               [](Shape& s) { s.lower[0] = 3; });
    refuse_all(good(storage), {"in dimension 1", "no multiple of the brick's 4"},
               [](Shape& s) { s.cells[1] += 2; });
    refuse_all(good(storage), {"18 own cells along dimension 0", "no multiple of the brick (4)"},
               [](Shape& s) { s.local = 1, s.cells[0] = 18, s.cells[1] = 16; });
    refuse_all(good(storage), {"dimension 1 has 16 own cells, less than its halo widths 12 and 8"},
               [](Shape& s) { s.lower[1] = 12, s.upper[1] = 8; });
  }
  for (const int storage : {TONARI_STORAGE_ARRAY, TONARI_STORAGE_BRICK, TONARI_STORAGE_MAPPED})
    refuse_all(good(storage), {"dimension 0 has 16 own cells but a halo of 20", "fewer ranks"},
               [](Shape& s) { s.upper[0] = 20; });
  refuse_all(good(TONARI_STORAGE_ARRAY), {"halo widths -1 and 4", "negative"},
             [](Shape& s) { s.lower[1] = -1; });
  refuse_all(good(), {"too few for", "fewer ranks or subdomains"},
             [](Shape& s) { s.subdomains[0] = 1000; });
}

// Every member, and for cells both numbers.
TEST_F(GridErrors, RanksThatDiffer) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  const std::string who = "rank " + std::to_string(last);
  const auto differ = [&](Shape shape, Words words, auto change) {
    if (rank == last) change(shape);
    expect_refused(cart, &shape, nullptr, TONARI_ERR_MISMATCH, words);
  };
  const auto mapped = good(TONARI_STORAGE_MAPPED);
  differ(good(), {who, "cells"}, [](Shape& s) { s.cells[0] += 4; });
  differ(good(), {who, "lower[1]", "8", "4"}, [](Shape& s) { s.lower[1] = 8; });
  differ(good(), {who, "upper[0]", "8", "4"}, [](Shape& s) { s.upper[0] = 8; });
  differ(good(), {who, "brick[1]", "2"}, [](Shape& s) { s.brick[1] = 2; });
  differ(good(), {who, "subdomains[0]", "2"}, [](Shape& s) { s.subdomains[0] = 2; });
  differ(good(), {who, "fields", "3"}, [](Shape& s) { s.fields = 3; });
  differ(good(), {who, "copies", "2"}, [](Shape& s) { s.copies = 2; });
  differ(good(), {who, "interleaved"}, [](Shape& s) { s.interleaved = 1; });
  differ(good(), {who, "type", "8", "4"}, [](Shape& s) { s.type = MPI_FLOAT; });
  differ(good(), {who, "storage"}, [](Shape& s) { s.storage = TONARI_STORAGE_ARRAY; });
  differ(good(), {who, "local"}, [](Shape& s) { s.local = 1; });
  differ(mapped, {who, "page", "65536"}, [](Shape& s) { s.page = 65536; });
  differ(mapped, {who, "copies"}, [](Shape& s) { s.mapped_ghosts = 1, s.copies = 2; });
  expect_usable();
}

TEST_F(GridErrors, LocalCellsThatDifferWhereTheyMustNot) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  MPI_Comm column = MPI_COMM_NULL;
  int sizes[] = {ranks, 1}, periodic[] = {1, 0};
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periodic, 0, &column);
  Shape shape = good();
  shape.local = 1;
  shape.cells[0] = 8 + 4 * rank;  // may differ
  shape.cells[1] = rank == last ? 12 : 16;
  expect_refused(column, &shape, nullptr, TONARI_ERR_MISMATCH,
                 {"rank 0 gave 16 cells in dimension 1", "gave 12"});
  shape.cells[1] = 16;
  tonari_grid grid = TONARI_GRID_NULL;
  EXPECT_OK(tonari_grid_create(column, &shape, nullptr, MPI_INFO_NULL, &grid));
  EXPECT_OK(tonari_grid_free(&grid));
  MPI_Comm_free(&column);
}

TEST_F(GridErrors, Arrays) {
  double storage[24 * 24];
  void* one[] = {storage, rank == last ? nullptr : storage};
  Shape shape = good(TONARI_STORAGE_ARRAY);
  shape.fields = 2;
  expect_refused(cart, &shape, one, TONARI_ERR_ARGUMENT, {"array 1 of 2", "NULL"});
  void* some[] = {storage};
  for (const int bricked : {TONARI_STORAGE_BRICK, TONARI_STORAGE_MAPPED}) {
    shape = good(bricked);
    expect_refused(cart, &shape, some, TONARI_ERR_ARGUMENT,
                   {"arrays", "storage array only", "tonari_grid_import"});
    expect_refused(cart, &shape, rank == last ? some : nullptr, TONARI_ERR_ARGUMENT,
                   {"storage array only"});
  }
  expect_usable();
}

TEST_F(GridErrors, Pages) {
  const Shape mapped = good(TONARI_STORAGE_MAPPED);
  const std::string system = std::to_string(::sysconf(_SC_PAGESIZE));
  refuse(mapped, {"powers of two from " + system, "not to 5000"}, [](Shape& s) { s.page = 5000; });
  refuse(mapped, {"powers of two", "not to 1024"}, [](Shape& s) { s.page = 1024; });
  // on no processor
  refuse(mapped, {"huge pages", "without"}, [](Shape& s) { s.huge_pages = 1, s.page = 1 << 13; });
  refuse(good(), {"huge_pages", "storage mapped", "storage brick"},
         [](Shape& s) { s.huge_pages = 1; });
  refuse(good(), {"page", "storage mapped"}, [](Shape& s) { s.page = 4096; });
  const std::filesystem::path sizes = "/sys/kernel/mm/hugepages/hugepages-2048kB";
  const auto number = [&](const char* name) {
    long n = 0;
    std::ifstream(sizes / name) >> n;
    return n;
  };
  if (std::filesystem::exists(sizes) && number("free_hugepages") == 0 &&
      number("nr_overcommit_hugepages") == 0)
    refuse_all(
        mapped, {"huge pages of 2097152 bytes", "0 are free", "nr_hugepages"},
        [](Shape& s) { s.huge_pages = 1, s.page = 2 << 20; }, TONARI_ERR_MEMORY);
}

TEST_F(GridErrors, MappedGhosts) {
  refuse_all(good(TONARI_STORAGE_MAPPED), {"at least 2 copies", "shape.copies"},
             [](Shape& s) { s.mapped_ghosts = 1; });
  refuse(good(TONARI_STORAGE_BRICK), {"mapped_ghosts", "storage mapped", "storage brick"},
         [](Shape& s) { s.mapped_ghosts = 1; });
  refuse(good(TONARI_STORAGE_ARRAY), {"mapped_ghosts", "storage mapped"},
         [](Shape& s) { s.mapped_ghosts = 1; });
  if (::sysconf(_SC_PAGESIZE) == 4096)
    refuse_all(good(TONARI_STORAGE_MAPPED), {"32 copies", "shape.copies is 33"},
               [](Shape& s) { s.mapped_ghosts = 1, s.copies = 33; });
}

TEST_F(GridErrors, TooManyMappings) {
  long most = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  if (most <= 0) GTEST_SKIP() << "this system does not say how many mappings it allows";
  const Held before = held();
  for (const bool ghosts : {false, true}) {
    Shape shape = good(TONARI_STORAGE_MAPPED);
    shape.mapped_ghosts = ghosts, shape.page = ghosts ? 1 << 20 : 0;  // room for as many copies
    for (int k = 0; k < 2; ++k) shape.subdomains[k] = 2, shape.lower[k] = shape.upper[k] = 4;
    shape.copies =
        ghosts ? static_cast<int>(std::min(most / 32, 8000L)) : static_cast<int>(most / 32);
    if (shape.copies * 32L < most) continue;  // a system with a very large limit
    expect_refused(cart, &shape, nullptr, TONARI_ERR_MEMORY,
                   {"more mappings", "vm.max_map_count", "fewer copies", "storage brick"});
  }
  EXPECT_EQ(held(), before) << "something was left";
  expect_usable();
}

// The last rank may write no file as large as its part of the grid.
TEST_F(GridErrors, NoRoomOnOneRank) {
  Shape shape = good(TONARI_STORAGE_MAPPED);
  expect_usable();              // the MPI has what it makes for its first messages
  must(make_and_free(good()));  // and the communicator what all grids on it share
  const Held before = held();
  for (const bool ghosts : {false, true}) {
    shape.mapped_ghosts = ghosts, shape.copies = 2;
    rlimit usual{};
    getrlimit(RLIMIT_FSIZE, &usual);
    rlimit little = usual;
    little.rlim_cur = 1 << 15;
    if (rank == last) setrlimit(RLIMIT_FSIZE, &little);
    tonari_grid grid = TONARI_GRID_NULL;
    const int code = tonari_grid_create(cart, &shape, nullptr, MPI_INFO_NULL, &grid);
    if (rank == last) setrlimit(RLIMIT_FSIZE, &usual);
    expect_everywhere(
        code, TONARI_ERR_MEMORY,
        {"cannot make", "bytes that can be mapped several times", "storage brick or array"});
    EXPECT_EQ(held(), before) << "something was left";
  }
  expect_usable();
}

TEST_F(GridErrors, MoreMemoryThanThereIs) {
  if (!sanitized)  // which ends the program
    refuse_all(
        good(TONARI_STORAGE_ARRAY), {"memory"},
        [](Shape& s) { s.local = 1, s.cells[0] = s.cells[1] = std::int64_t{1} << 26; },
        TONARI_ERR_MEMORY);
  refuse_all(good(TONARI_STORAGE_ARRAY), {"2^62 cells"},
             [](Shape& s) { s.local = 1, s.cells[0] = s.cells[1] = std::int64_t{1} << 40; });
}

// ---- requests

TEST_F(GridErrors, WaysThatDoNotApply) {
  const auto refused = [&](const TestGrid& t, const char* key, const char* value, int code,
                           Words words) {
    for (const bool everyone : {true, false}) {
      auto* const unchanged = reinterpret_cast<tonari_request>(static_cast<std::uintptr_t>(0x40));
      tonari_request request = unchanged;
      const int got = everyone || rank == last
                          ? tonari_grid_exchange_init(t.grid, 0, Info{{key, value}}, &request)
                          : tonari_grid_exchange_init(t.grid, 0, MPI_INFO_NULL, &request);
      expect_everywhere(got, code, words);
      EXPECT_EQ(request, unchanged);
    }
  };
  const TestGrid array(plain_geometry(1, 8), TONARI_STORAGE_ARRAY),
      brick(plain_geometry(1, 8), TONARI_STORAGE_BRICK),
      mapped(plain_geometry(1, 8), TONARI_STORAGE_MAPPED),
      ghosts(plain_geometry(1, 8), TONARI_STORAGE_MAPPED, true);
  refused(array, "tonari_halo", "quick", TONARI_ERR_ALGORITHM,
          {"'quick'", "auto, plan, pack, datatypes, shift"});
  refused(array, "tonari_halo", "memmap", TONARI_ERR_ALGORITHM,
          {"'memmap'", "storage array", "pack"});
  refused(brick, "tonari_halo", "pack", TONARI_ERR_ALGORITHM,
          {"'pack'", "storage brick", "layout"});
  refused(mapped, "tonari_halo", "zero-byte", TONARI_ERR_ALGORITHM, {"storage mapped", "memmap"});
  refused(ghosts, "tonari_halo", "memmap", TONARI_ERR_ALGORITHM,
          {"with mapped ghosts", "zero-byte"});
  refused(brick, "tonari_halo_neighbors", "some", TONARI_ERR_ARGUMENT, {"'some'", "all or faces"});
  refused(brick, "tonari_tune", "often", TONARI_ERR_ARGUMENT, {"often"});
  expect_usable();
}

TEST_F(GridErrors, UnknownKeysOfGrids) {
  const Geometry g = plain_geometry(1, 8);
  MPI_Comm cart = g.make_cart();
  tonari_grid grid = TONARI_GRID_NULL;
  const tonari_grid_shape shape = g.shape_of(world_rank());
  const Info wrong{{"tonari_hallo", "pack"}};
  expect_everywhere(tonari_grid_create(cart, &shape, nullptr, wrong, &grid), TONARI_ERR_ARGUMENT,
                    {"tonari_hallo", "tonari_halo"});
  EXPECT_EQ(grid, TONARI_GRID_NULL);
  MPI_Comm_free(&cart);
}

TEST_F(GridErrors, RequestsThatDiffer) {
  TestGrid t(plain_geometry(1, 8, 2), TONARI_STORAGE_BRICK);
  tonari_request request = TONARI_REQUEST_NULL;
  expect_everywhere(
      tonari_grid_exchange_init(t.grid, rank == last ? 2 : 0, MPI_INFO_NULL, &request),
      TONARI_ERR_ARGUMENT, {"copy 2 does not exist"});
  expect_everywhere(
      tonari_grid_exchange_init(t.grid, 0, MPI_INFO_NULL, rank == last ? nullptr : &request),
      TONARI_ERR_ARGUMENT, {"`request` is NULL"});
  expect_everywhere(tonari_grid_exchange_init(TONARI_GRID_NULL, 0, MPI_INFO_NULL, &request),
                    TONARI_ERR_ARGUMENT, {"`grid` is NULL"});
  if (ranks > 1) {
    expect_everywhere(tonari_grid_exchange_init(t.grid, rank == last, MPI_INFO_NULL, &request),
                      TONARI_ERR_MISMATCH, {"different copies"});
    for (const char* key : {"tonari_halo", "tonari_halo_neighbors"}) {
      const std::string mine = std::string(key) == "tonari_halo"
                                   ? (rank == last ? "basic" : "layout")
                               : rank == last ? "faces"
                                              : "all";
      expect_everywhere(tonari_grid_exchange_init(t.grid, 0, Info{{key, mine}}, &request),
                        TONARI_ERR_MISMATCH, {"different info keys"});
    }
  }
  EXPECT_EQ(request, TONARI_REQUEST_NULL);
  expect_usable();
}

TEST_F(GridErrors, FreedWhileInUse) {
  for (const int storage : {TONARI_STORAGE_ARRAY, TONARI_STORAGE_BRICK, TONARI_STORAGE_MAPPED}) {
    Shape shape = good(storage);
    shape.copies = 2, shape.mapped_ghosts = storage == TONARI_STORAGE_MAPPED;
    tonari_grid grid = TONARI_GRID_NULL;
    must(tonari_grid_create(cart, &shape, nullptr, MPI_INFO_NULL, &grid));
    tonari_request requests[2];
    for (int c = 0; c < 2; ++c)
      must(tonari_grid_exchange_init(grid, c, Info{{"tonari_tune", "off"}}, &requests[c]));
    must(tonari_start(requests[1]));
    const tonari_grid same = grid;
    expect_everywhere(tonari_grid_free(&grid), TONARI_ERR_ACTIVE,
                      {"in use on rank 0 by 2 requests", "tonari_request_free"});
    EXPECT_EQ(grid, same);
    must(tonari_wait(requests[1]));  // still works
    must(tonari_request_free(&requests[0]));
    if (rank != last) must(tonari_request_free(&requests[1]));
    expect_everywhere(tonari_grid_free(&grid), TONARI_ERR_ACTIVE,
                      {"in use on rank " + std::to_string(last) + " by 1 request;"});
    if (rank == last) must(tonari_request_free(&requests[1]));
    EXPECT_OK(tonari_grid_free(&grid));
    EXPECT_EQ(grid, TONARI_GRID_NULL);
  }
}

}  // namespace
