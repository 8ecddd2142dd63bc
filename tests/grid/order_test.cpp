// SPDX-License-Identifier: BSD-3-Clause
// Grids of arrays in Fortran order: the first index runs fastest in memory, in exchanges, in what
// is imported and in files.
#include <fstream>

#include "grid/grids.hpp"
#include "support/reserved.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

// Arrays of this program. Where a cell lies is computed without asking the library.
class FortranGrid {
 public:
  explicit FortranGrid(const Geometry& geometry) : g(cut_for(geometry, TONARI_STORAGE_ARRAY)) {
    tonari_grid_shape shape = g.shape_of(world_rank());
    shape.order = TONARI_ORDER_FORTRAN;
    std::vector<void*> pointers;
    for (int s = 0; s < g.subdomains(); ++s)
      arrays_.emplace_back(static_cast<std::size_t>(cells_in(g.whole(world_rank(), s), g.dims)) *
                           g.element_bytes);
    for (auto& array : arrays_) pointers.push_back(array.data());
    MPI_Comm cart = g.make_cart();
    must(tonari_grid_create(cart, &shape, pointers.data(), MPI_INFO_NULL, &grid));
    MPI_Comm_free(&cart);
  }
  ~FortranGrid() { must(tonari_grid_free(&grid)); }
  FortranGrid(const FortranGrid&) = delete;
  FortranGrid& operator=(const FortranGrid&) = delete;

  unsigned char* at(int s, const Index& x) {
    const tonari_box whole = g.whole(world_rank(), s);
    std::int64_t place = 0;
    for (int k = g.dims - 1; k >= 0; --k)
      place = place * (whole.end[k] - whole.first[k]) + x[k] - whole.first[k];
    return &arrays_[static_cast<std::size_t>(s)][static_cast<std::size_t>(place) * g.element_bytes];
  }
  // use(cell, value it has after a round's exchange, whether it is own)
  template <class Use>
  void for_all(int round, Use use) {
    for (int s = 0; s < g.subdomains(); ++s) {
      const std::vector<unsigned char> full = expected(g, s, 0, 0, round, [&](const Index& sides) {
        return g.neighbor(world_rank(), s, sides) >= 0;
      });
      const Index own = g.own(world_rank(), s);
      std::size_t place = 0;
      for_cells(g.whole(world_rank(), s), g.dims, [&](const Index& x) {
        bool inside = true;
        for (int k = 0; k < g.dims; ++k) inside = inside && x[k] >= 0 && x[k] < own[k];
        use(at(s, x), &full[place], inside, s);
        place += g.element_bytes;
      });
    }
  }
  void fill(int round) {
    for_all(round, [&](unsigned char* cell, const unsigned char* value, bool own, int s) {
      if (own)
        std::memcpy(cell, value, g.element_bytes);
      else
        std::memset(cell, poison_of(s), g.element_bytes);
    });
  }
  int wrong(int round) {
    int count = 0;
    for_all(round, [&](const unsigned char* cell, const unsigned char* value, bool, int) {
      count += std::memcmp(cell, value, g.element_bytes) != 0;
    });
    return count;
  }

  const Geometry g;
  tonari_grid grid = TONARI_GRID_NULL;

 private:
  std::vector<std::vector<unsigned char>> arrays_;
};

Geometry draw(Random& random, int dims) {
  Geometry g = draw_geometry(random, dims, false);
  g.shape.fields = g.shape.copies = 1;
  return g;
}

TEST(GridOrder, FortranArraysOnRandomGrids) {
  Random random(51);
  for (int repeat = 0; repeat < (crowded() ? 1 : 6); ++repeat)
    for (int dims = 1; dims <= 4; ++dims) {
      const Geometry g = draw(random, dims);
      SCOPED_TRACE(g.text());
      FortranGrid t(g);
      if (g.ours) {
        MPI_Datatype type = g.shape.type;
        MPI_Type_free(&type);
      }
      for (const char* kind : {"plan", "pack", "datatypes", "shift"}) {
        tonari_request request = TONARI_REQUEST_NULL;
        must(tonari_grid_exchange_init(
            t.grid, 0, Info{{"tonari_halo", kind}, {"tonari_tune", "off"}}, &request));
        t.fill(repeat);
        must(tonari_start(request));
        must(tonari_wait(request));
        EXPECT_EQ(t.wrong(repeat), 0) << kind;
        must(tonari_request_free(&request));
      }
    }
}

TEST(GridOrder, ReverseOfFortranArrays) {
  Geometry g = plain_geometry(2, 6);
  g.shape.upper[1] = 1;
  FortranGrid t(g);
  t.for_all(0, [](unsigned char* cell, const unsigned char*, bool own, int) {
    const double value = own ? 10 * world_rank() : 1;
    std::memcpy(cell, &value, sizeof value);
  });
  must(tonari_grid_reverse(t.grid, 0, nullptr, MPI_SUM));
  // Periodic, widths 4 and 4 along dimension 0, 4 and 1 along the other: ghosts of cell x of 6.
  const auto copies = [](std::int64_t x, std::int64_t below, std::int64_t above) {
    return 1 + (x >= 6 - below) + (x < above);
  };
  for_cells(tonari_box{{0, 0}, {6, 6}}, 2, [&](const Index& x) {
    double value = 0;
    std::memcpy(&value, t.at(0, x), sizeof value);
    EXPECT_EQ(value, 10 * world_rank() + copies(x[0], 4, 4) * copies(x[1], 4, 1) - 1)
        << x[0] << " " << x[1];
  });
}

TEST(GridOrder, ImportLayoutAndFiles) {
  Geometry g = plain_geometry(2, 6);
  FortranGrid t(g);
  auto array = with_all_bits_set<tonari_array>();
  must(tonari_grid_get_array(t.grid, 0, &array));
  EXPECT_TRUE(reserved_is_zero(array));
  EXPECT_EQ(array.stride[0], 1);
  EXPECT_EQ(array.stride[1], 14);
  const tonari_box box{{1, 2}, {3, 5}};
  const double values[] = {1, 2, 3, 4, 5, 6};  // cells (1,2), (2,2), (1,3), ...
  must(tonari_grid_import(t.grid, 0, 0, 0, &box, values));
  double one = 0;
  std::memcpy(&one, t.at(0, {2, 2}), sizeof one);
  EXPECT_EQ(one, 2);
  std::memcpy(&one, t.at(0, {1, 4}), sizeof one);
  EXPECT_EQ(one, 5);
  double back[6] = {};
  must(tonari_grid_export(t.grid, 0, 0, 0, &box, back));
  EXPECT_TRUE(std::equal(back, back + 6, values));

  const std::string name = "fortran_order_" + std::to_string(world_size()) + ".npy";
  t.fill(3);
  must(tonari_grid_save(t.grid, 0, 0, name.c_str()));
  if (world_rank() == 0) {
    std::ifstream file(name, std::ios::binary);
    std::string header(128, ' ');
    file.read(header.data(), 128);
    EXPECT_NE(header.find("'fortran_order': True"), std::string::npos) << header;
    // The second value of the file is cell (1, 0) of the whole grid.
    unsigned char got[8], want[8];
    file.seekg(static_cast<std::streamoff>(header.find('\n')) + 1 + 8);
    file.read(reinterpret_cast<char*>(got), 8);
    put_value(g, {1, 0}, 0, 0, 3, want);
    EXPECT_EQ(std::memcmp(got, want, 8), 0);
  }
  t.fill(4);
  must(tonari_grid_load(t.grid, 0, 0, name.c_str()));
  must(tonari_grid_forward(t.grid, 0, nullptr));
  EXPECT_EQ(t.wrong(3), 0);
  TestGrid other(g, TONARI_STORAGE_ARRAY);
  expect_everywhere(tonari_grid_load(other.grid, 0, 0, name.c_str()), TONARI_ERR_FILE,
                    {"Fortran order", "TONARI_ORDER_FORTRAN"});
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) std::remove(name.c_str());
}

TEST(GridOrder, WrongOrdersAreRefused) {
  const Geometry g = plain_geometry(1, 12);
  MPI_Comm cart = g.make_cart();
  tonari_grid_shape shape = g.shape_of(world_rank());
  tonari_grid grid = TONARI_GRID_NULL;
  shape.order = 2;
  expect_everywhere(tonari_grid_create(cart, &shape, nullptr, MPI_INFO_NULL, &grid),
                    TONARI_ERR_ARGUMENT, {"shape.order is 2"});
  shape.order = TONARI_ORDER_FORTRAN, shape.storage = TONARI_STORAGE_BRICK;
  expect_everywhere(tonari_grid_create(cart, &shape, nullptr, MPI_INFO_NULL, &grid),
                    TONARI_ERR_ARGUMENT, {"storage array", "storage brick"});
  if (world_size() > 1) {
    shape.storage = TONARI_STORAGE_ARRAY;
    shape.order = world_rank() == 0 ? TONARI_ORDER_FORTRAN : TONARI_ORDER_C;
    expect_everywhere(tonari_grid_create(cart, &shape, nullptr, MPI_INFO_NULL, &grid),
                      TONARI_ERR_MISMATCH, {"shape.order is 1 on rank 0"});
  }
  MPI_Comm_free(&cart);
}

}  // namespace
