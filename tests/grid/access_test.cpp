// SPDX-License-Identifier: BSD-3-Clause
// Where cells are: single cells, boxes, bricks, import and export, against their definitions.
#include <unistd.h>

#include <set>

#include "grid/grids.hpp"
#include "support/reserved.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

std::vector<tonari_box> boxes(const TestGrid& t, int subdomain, int part) {
  int count = 0;
  must(tonari_grid_boxes(t.grid, subdomain, part, &count, nullptr));
  std::vector<tonari_box> all(static_cast<std::size_t>(count));
  must(tonari_grid_boxes(t.grid, subdomain, part, &count, all.data()));
  EXPECT_EQ(count, static_cast<int>(all.size()));
  return all;
}

std::vector<std::int32_t> bricks_of(const TestGrid& t, int subdomain, int part) {
  std::int64_t count = 0;
  must(tonari_grid_bricks_of(t.grid, subdomain, part, &count, nullptr));
  std::vector<std::int32_t> all(static_cast<std::size_t>(count));
  must(tonari_grid_bricks_of(t.grid, subdomain, part, &count, all.data()));
  return all;
}

// Does some neighbor, if there is one, have this cell among its ghosts?
bool needed(const Geometry& g, const Index& x, const Index& own) {
  bool beyond_some = false;
  for (int k = 0; k < g.dims; ++k)
    beyond_some |= x[k] < g.shape.upper[k] || x[k] >= own[k] - g.shape.lower[k];
  return beyond_some;
}

// Each cell of the subdomain in exactly one box of the part that it belongs to.
void expect_parts(const TestGrid& t, int subdomain) {
  const Geometry& g = t.g;
  const Index own = g.own(world_rank(), subdomain);
  const tonari_box whole = g.whole(world_rank(), subdomain);
  const int parts[] = {TONARI_PART_INTERIOR, TONARI_PART_SURFACE, TONARI_PART_GHOSTS,
                       TONARI_PART_OWN};
  std::vector<int> where(static_cast<std::size_t>(cells_in(whole, g.dims)), 0);
  const auto at = [&](const Index& x) {
    std::size_t i = 0;
    for (int k = 0; k < g.dims; ++k)
      i = i * static_cast<std::size_t>(whole.end[k] - whole.first[k]) +
          static_cast<std::size_t>(x[k] - whole.first[k]);
    return i;
  };
  for (const int part : parts)
    for (const tonari_box& box : boxes(t, subdomain, part)) {
      EXPECT_GT(cells_in(box, g.dims), 0) << "an empty box";
      for_cells(box, g.dims, [&](const Index& x) {
        where[at(x)] += part == TONARI_PART_OWN        ? 1000
                        : part == TONARI_PART_INTERIOR ? 1
                        : part == TONARI_PART_SURFACE  ? 10
                                                       : 100;
      });
    }
  int wrong = 0;
  for_cells(whole, g.dims, [&](const Index& x) {
    bool inside = true;
    for (int k = 0; k < g.dims; ++k) inside = inside && x[k] >= 0 && x[k] < own[k];
    wrong += where[at(x)] != (!inside ? 100 : needed(g, x, own) ? 1010 : 1001);
  });
  EXPECT_EQ(wrong, 0) << "cells in no part, in two, or in a wrong one; " << g.text();
}

// tonari_grid_at, the layouts and export agree about every cell.
void expect_places(TestGrid& t, int subdomain, bool bricked) {
  const Geometry& g = t.g;
  const tonari_box whole = g.whole(world_rank(), subdomain);
  int wrong = 0;
  for (int f = 0; f < t.fields; ++f) {
    const int copy = t.copies - 1;
    const std::vector<unsigned char> all = t.field(subdomain, copy, f);
    void* base = nullptr;
    must(tonari_grid_data(t.grid, subdomain, copy, f, &base));
    tonari_bricks bricks{};
    tonari_array array{};
    must(bricked ? tonari_grid_get_bricks(t.grid, subdomain, &bricks)
                 : tonari_grid_get_array(t.grid, subdomain, &array));
    const unsigned char* expected = all.data();
    for_cells(whole, g.dims, [&](const Index& x) {
      void* cell = nullptr;
      must(tonari_grid_at(t.grid, subdomain, copy, f, x.data(), &cell));
      std::int64_t at = 0, brick = 0, inside = 0;
      for (int k = 0; k < g.dims; ++k) {
        const std::int64_t from = x[k] + g.shape.lower[k], unit = bricked ? bricks.brick[k] : 1;
        at += bricked ? 0 : from * array.stride[k];
        brick = brick * (bricks.lower[k] + bricks.own[k] + bricks.upper[k]) + from / unit;
        inside = inside * unit + from % unit;
      }
      if (bricked) at = bricks.place[bricks.number[brick]] + inside;
      wrong += cell !=
               static_cast<unsigned char*>(base) + at * static_cast<std::int64_t>(g.element_bytes);
      wrong += std::memcmp(cell, expected, g.element_bytes) != 0;
      expected += g.element_bytes;
    });
  }
  EXPECT_EQ(wrong, 0) << g.text();
}

// Numbers ascend, and hold the cells of the part's boxes.
void expect_bricks(const TestGrid& t, int subdomain) {
  const Geometry& g = t.g;
  auto bricks = with_all_bits_set<tonari_bricks>();
  must(tonari_grid_get_bricks(t.grid, subdomain, &bricks));
  EXPECT_TRUE(reserved_is_zero(bricks));
  for (const int part :
       {TONARI_PART_INTERIOR, TONARI_PART_SURFACE, TONARI_PART_GHOSTS, TONARI_PART_OWN}) {
    const std::vector<std::int32_t> numbers = bricks_of(t, subdomain, part);
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
    std::set<std::int32_t> found;
    for (const tonari_box& box : boxes(t, subdomain, part))
      for_cells(box, g.dims, [&](const Index& x) {
        std::int64_t at = 0;
        for (int k = 0; k < g.dims; ++k)
          at = at * (bricks.lower[k] + bricks.own[k] + bricks.upper[k]) +
               (x[k] + g.shape.lower[k]) / bricks.brick[k];
        found.insert(bricks.number[at]);
      });
    EXPECT_TRUE(std::equal(found.begin(), found.end(), numbers.begin(), numbers.end()))
        << "part " << part << "; " << g.text();
  }
}

void expect_info(const TestGrid& t, int storage) {
  const Geometry& g = t.g;
  auto info = with_all_bits_set<tonari_grid_info>();
  must(tonari_grid_get_info(t.grid, &info));
  EXPECT_TRUE(reserved_is_zero(info));
  EXPECT_EQ(info.dims, g.dims);
  EXPECT_EQ(info.subdomains, g.subdomains());
  EXPECT_EQ(info.fields, t.fields);
  EXPECT_EQ(info.copies, t.copies);
  EXPECT_EQ(info.element_bytes, g.element_bytes);
  EXPECT_EQ(info.page, storage != TONARI_STORAGE_MAPPED ? 0u
                       : g.shape.page                   ? g.shape.page
                                      : static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(info.mappings > 0, storage == TONARI_STORAGE_MAPPED);
  for (int k = 0; k < g.dims; ++k) EXPECT_EQ(info.global[k], g.total(k));
  std::size_t cells = 0;
  for (int s = 0; s < g.subdomains(); ++s) {
    cells += static_cast<std::size_t>(cells_in(g.whole(world_rank(), s), g.dims));
    std::int64_t first[most_dims], own[most_dims];
    must(tonari_grid_get_cells(t.grid, s, first, own));
    for (int k = 0; k < g.dims; ++k)
      EXPECT_TRUE(first[k] == g.first(world_rank(), s)[k] && own[k] == g.own(world_rank(), s)[k])
          << g.text();
  }
  EXPECT_GE(info.bytes, cells * g.element_bytes * static_cast<std::size_t>(t.fields * t.copies));
}

template <class Test>
void on_random_grids(unsigned seed, Test test) {
  Random random(seed);
  const int repeats = crowded() ? 1 : 4;
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (int dims = 1; dims <= (repeat == 0 && !crowded() ? most_dims : 3); ++dims)
      for (const int storage :
           {TONARI_STORAGE_ARRAY, TONARI_STORAGE_BRICK, TONARI_STORAGE_MAPPED}) {
        Geometry g =
            draw_geometry(random, dims, storage != TONARI_STORAGE_ARRAY || pick(random, 0, 1) == 1);
        g.shape.interleaved = pick(random, 0, 1);
        if (storage != TONARI_STORAGE_MAPPED || g.element_bytes != 12) {
          SCOPED_TRACE("storage " + std::to_string(storage) + ", " + g.text());
          TestGrid t(g, storage);
          test(t, storage, random);
        }
        if (g.ours) MPI_Type_free(&g.shape.type);
      }
}

TEST(GridAccess, CellsPartsAndBricksAreWhereTheDefinitionsSay) {
  on_random_grids(21, [](TestGrid& t, int storage, Random&) {
    expect_info(t, storage);
    const std::vector<unsigned char> fresh = t.all(t.copies - 1);
    EXPECT_TRUE(std::all_of(fresh.begin(), fresh.end(), [](unsigned char byte) {
      return byte == 0;
    })) << "new memory is zero";
    t.fill(t.copies - 1, 3);
    for (int s = 0; s < t.g.subdomains(); ++s) {
      expect_parts(t, s);
      expect_places(t, s, storage != TONARI_STORAGE_ARRAY);
      if (storage != TONARI_STORAGE_ARRAY) expect_bricks(t, s);
    }
  });
}

// Boxes anywhere within the ghosts: what was imported is there, and nothing else was touched.
TEST(GridAccess, ImportAndExportOfBoxes) {
  on_random_grids(22, [](TestGrid& t, int, Random& all) {
    Random random(static_cast<unsigned>(all()));  // ranks draw differently often
    t.fill(0, 1);
    for (int repeat = 0; repeat < 6; ++repeat) {
      const int s = pick(random, 0, t.g.subdomains() - 1), f = pick(random, 0, t.fields - 1);
      const tonari_box whole = t.g.whole(world_rank(), s);
      tonari_box box{};
      for (int k = 0; k < t.g.dims; ++k) {
        const auto width = static_cast<std::uint32_t>(whole.end[k] - whole.first[k]);
        const auto a = static_cast<std::int64_t>(random() % width),
                   b = static_cast<std::int64_t>(random() % width);
        box.first[k] = whole.first[k] + std::min(a, b),
        box.end[k] = whole.first[k] + std::max(a, b) + 1;
      }
      std::vector<unsigned char> want = t.field(s, 0, f), some;
      std::size_t at = 0;
      for_cells(whole, t.g.dims, [&](const Index& x) {
        bool inside = true;
        for (int k = 0; k < t.g.dims; ++k)
          inside = inside && x[k] >= box.first[k] && x[k] < box.end[k];
        for (std::size_t i = 0; i < t.g.element_bytes; ++i, ++at)
          if (inside) some.push_back(want[at] = static_cast<unsigned char>(random()));
      });
      must(tonari_grid_import(t.grid, s, 0, f, &box, some.data()));
      EXPECT_TRUE(t.field(s, 0, f) == want);
      std::vector<unsigned char> back(some.size());
      must(tonari_grid_export(t.grid, s, 0, f, &box, back.data()));
      EXPECT_TRUE(back == some);
    }
  });
}

// An array as narrow as its halo: both surfaces are the same cells, which are in one box all the
// same.
TEST(GridAccess, PartsOfNarrowArraysAreDisjoint) {
  Geometry g = plain_geometry(2, 5);
  g.shape.upper[1] = 3;
  TestGrid t(g, TONARI_STORAGE_ARRAY);
  expect_parts(t, 0);
}

// What is held is there after the grid, with its tables, until the last hold ends.
TEST(GridAccess, MemoryThatIsHeldOutlivesTheGrid) {
  for (const int storage : {TONARI_STORAGE_ARRAY, TONARI_STORAGE_BRICK, TONARI_STORAGE_MAPPED}) {
    const std::int64_t index[] = {7, 5};
    const auto mine = static_cast<unsigned char>(10 * storage + world_rank() + 1);
    void* cell = nullptr;
    tonari_bricks bricks{};
    tonari_grid_memory first = TONARI_GRID_MEMORY_NULL, second = TONARI_GRID_MEMORY_NULL;
    {
      TestGrid t(plain_geometry(2, 512), storage);
      must(tonari_grid_at(t.grid, 0, 0, 0, index, &cell));
      if (storage != TONARI_STORAGE_ARRAY) must(tonari_grid_get_bricks(t.grid, 0, &bricks));
      *static_cast<unsigned char*>(cell) = mine;
      must(tonari_grid_memory_hold(t.grid, &first));
      must(tonari_grid_memory_hold(t.grid, &second));
    }
    must(tonari_grid_memory_release(&first));
    EXPECT_EQ(first, TONARI_GRID_MEMORY_NULL);
    must(tonari_grid_memory_release(&first));
    EXPECT_EQ(*static_cast<unsigned char*>(cell), mine);
    if (storage != TONARI_STORAGE_ARRAY) {
      EXPECT_GT(bricks.place[1], bricks.place[0]);
    }
    *static_cast<unsigned char*>(cell) = 0;
    must(tonari_grid_memory_release(&second));
  }
}

TEST(GridAccess, WrongQuestionsAreAnsweredBySentences) {
  TestGrid bricked(plain_geometry(2, 16), TONARI_STORAGE_BRICK),
      array(plain_geometry(2, 16), TONARI_STORAGE_ARRAY);
  void* place = nullptr;
  std::int64_t index[] = {0, 21}, many = 1;
  std::int32_t one = 0;
  tonari_box box{{-5, 0}, {3, 4}};
  double cell[64] = {};
  tonari_array a;
  tonari_bricks b;
  int count = 1;
  const auto refused = [](int code, std::initializer_list<std::string> words) {
    expect_everywhere(code, TONARI_ERR_ARGUMENT, words);
  };
  refused(tonari_grid_at(bricked.grid, 0, 0, 0, index, &place),
          {"cell 21 of dimension 1", "-4 to 19"});
  refused(tonari_grid_at(bricked.grid, 1, 0, 0, index, &place), {"subdomain 1 does not exist"});
  refused(tonari_grid_at(bricked.grid, 0, 1, 0, index, &place), {"copy 1 does not exist"});
  refused(tonari_grid_at(bricked.grid, 0, 0, -1, index, &place), {"field -1 does not exist"});
  refused(tonari_grid_at(bricked.grid, 0, 0, 0, nullptr, &place), {"`index` is NULL"});
  refused(tonari_grid_at(bricked.grid, 0, 0, 0, index, nullptr), {"`cell` is NULL"});
  refused(tonari_grid_data(TONARI_GRID_NULL, 0, 0, 0, &place), {"`grid` is NULL"});
  refused(tonari_grid_import(array.grid, 0, 0, 0, &box, cell), {"cells -5 to 2 of dimension 0"});
  refused(tonari_grid_import(array.grid, 0, 0, 0, nullptr, nullptr), {"`array` is NULL"});
  refused(tonari_grid_export(array.grid, 0, 0, 0, nullptr, nullptr), {"`array` is NULL"});
  refused(tonari_grid_get_array(bricked.grid, 0, &a),
          {"storage is brick", "tonari_grid_get_bricks"});
  refused(tonari_grid_get_bricks(array.grid, 0, &b), {"storage is array", "tonari_grid_get_array"});
  refused(tonari_grid_bricks_of(array.grid, 0, TONARI_PART_OWN, &many, &one), {"storage is array"});
  refused(tonari_grid_bricks_of(bricked.grid, 0, TONARI_PART_OWN, &many, &one),
          {"room for 1", "there are 16"});
  refused(tonari_grid_boxes(bricked.grid, 0, TONARI_PART_GHOSTS, &count, &box),
          {"room for 1", "there are 8"});
  refused(tonari_grid_boxes(bricked.grid, 0, 4, &count, &box), {"part 4 does not exist"});
  refused(tonari_grid_get_info(bricked.grid, nullptr), {"`info` is NULL"});
  refused(tonari_grid_memory_hold(bricked.grid, nullptr), {"`memory` is NULL"});
  refused(tonari_grid_memory_release(nullptr), {"`memory` is NULL"});
}

}  // namespace
