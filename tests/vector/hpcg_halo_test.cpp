// SPDX-License-Identifier: BSD-3-Clause
// The halo of HPCG as a yardstick. Its description says who needs what: a stencil of 27 points on a
// grid of boxes, and rows of ranks that others need (Heroux, Dongarra and Luszczek 2013, "HPCG
// Technical Specification", section 3). External columns get local numbers rank by rank, ascending
// within each rank. What tonari finds by itself must be the same cells with the same values.
#include <tonari/grid.h>
#include <tonari/vector.h>

#include <array>
#include <map>
#include <set>

#include "support/must.hpp"
#include "support/ok.hpp"

namespace {

using namespace tonari::test;

using Cell = std::array<std::int64_t, 3>;  // x, y, z

// x varies fastest, of cells and of ranks.
struct Hpcg {
  Cell ranks{1, 1, 1}, box{};
  Cell place{};  // of this rank

  explicit Hpcg(const Cell& cells) : box(cells) {
    int sizes[3] = {0, 0, 0};
    MPI_Dims_create(world_size(), 3, sizes);
    for (int d = 0; d < 3; ++d) ranks[d] = sizes[2 - d];
    const int r = world_rank();
    place = {r % ranks[0], r / ranks[0] % ranks[1], r / (ranks[0] * ranks[1])};
  }
  static std::int64_t number(const Cell& at, const Cell& size) {
    return (at[2] * size[1] + at[1]) * size[0] + at[0];
  }
  Cell global() const { return {ranks[0] * box[0], ranks[1] * box[1], ranks[2] * box[2]}; }
  bool exists(const Cell& at) const {
    const Cell all = global();
    for (int d = 0; d < 3; ++d)
      if (at[d] < 0 || at[d] >= all[d]) return false;
    return true;
  }
  int owner(const Cell& at) const {
    return static_cast<int>(number({at[0] / box[0], at[1] / box[1], at[2] / box[2]}, ranks));
  }
  std::int64_t id(const Cell& at) const { return number(at, global()); }
  std::int64_t own_cells() const { return box[0] * box[1] * box[2]; }
  Cell own(std::int64_t row) const {
    const Cell at{row % box[0], row / box[0] % box[1], row / (box[0] * box[1])};
    return {place[0] * box[0] + at[0], place[1] * box[1] + at[1], place[2] * box[2] + at[2]};
  }

  // Calls use(column) for the columns of a row that exist, itself included.
  template <class Use>
  void columns(std::int64_t row, Use use) const {
    const Cell at = own(row);
    for (int k = 0; k < 27; ++k) {
      const Cell column{at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1};
      if (exists(column)) use(column);
    }
  }
};

double value(std::int64_t id, int round) { return 1000.0 * static_cast<double>(id) + round; }

// The lists, in the order of HPCG.
struct Lists {
  std::vector<int> neighbors, send_counts, recv_counts, rows;  // rows: what is sent
  std::vector<std::int64_t> externals;                         // ids of what is received
  std::vector<std::int64_t> met;  // the same as rows meet them, again and again

  explicit Lists(const Hpcg& grid) {
    std::map<int, std::set<std::int64_t>> receive, send;
    for (std::int64_t row = 0; row < grid.own_cells(); ++row)
      grid.columns(row, [&](const Cell& column) {
        const int owner = grid.owner(column);
        if (owner == world_rank()) return;
        met.push_back(grid.id(column));
        receive[owner].insert(grid.id(column));
        send[owner].insert(row);  // the stencil is symmetric
      });
    for (const auto& [neighbor, ids] : receive) {
      neighbors.push_back(neighbor);
      recv_counts.push_back(static_cast<int>(ids.size()));
      externals.insert(externals.end(), ids.begin(), ids.end());
      send_counts.push_back(static_cast<int>(send[neighbor].size()));
      for (const std::int64_t row : send[neighbor]) rows.push_back(static_cast<int>(row));
    }
  }
};

class HpcgHalo : public testing::TestWithParam<Cell> {
 protected:
  const Hpcg grid{GetParam()};
  const Lists lists{grid};
  const std::size_t own = static_cast<std::size_t>(grid.own_cells());

  std::vector<double> own_values(int round) const {
    std::vector<double> x;
    for (std::size_t row = 0; row < own; ++row)
      x.push_back(value(grid.id(grid.own(static_cast<std::int64_t>(row))), round));
    return x;
  }
  void expect_externals(const double* ghosts, int round) const {
    for (std::size_t k = 0; k < lists.externals.size(); ++k)
      ASSERT_EQ(ghosts[k], value(lists.externals[k], round)) << "external " << k;
  }
  void expect_facts(tonari_vector vector) const {
    tonari_vector_facts facts;
    must(tonari_vector_get_facts(vector, &facts));
    EXPECT_EQ(facts.ghosts, static_cast<std::int64_t>(lists.externals.size()));
    EXPECT_EQ(facts.sources, static_cast<int>(lists.neighbors.size()));
    EXPECT_EQ(facts.targets, static_cast<int>(lists.neighbors.size()));
    EXPECT_EQ(facts.values_sent, static_cast<std::int64_t>(lists.rows.size()));
  }
};

// HPCG's lists as they are: externals lie behind own values.
TEST_P(HpcgHalo, ListsAreTakenAsTheyAre) {
  const int n = static_cast<int>(lists.neighbors.size());
  tonari_vector vector = TONARI_VECTOR_NULL;
  must(tonari_vector_create_from_neighbors(
      MPI_COMM_WORLD, grid.own_cells(), n, lists.neighbors.data(), lists.send_counts.data(),
      lists.rows.data(), n, lists.neighbors.data(), lists.recv_counts.data(), nullptr,
      MPI_INFO_NULL, &vector));
  expect_facts(vector);
  for (int round = 0; round < 3; ++round) {
    std::vector<double> x = own_values(round);
    x.resize(own + lists.externals.size(), -1);
    must(tonari_vector_forward(vector, nullptr, x.data(), x.data() + own));
    expect_externals(x.data() + own, round);
  }
  must(tonari_vector_free(&vector));
}

// The ids of all columns that rows meet: owners and externals are found, each value is sent once.
TEST_P(HpcgHalo, ColumnsTellTheSameExternals) {
  std::vector<std::int64_t> ids;
  for (std::size_t row = 0; row < own; ++row)
    ids.push_back(grid.id(grid.own(static_cast<std::int64_t>(row))));
  tonari_vector vector = TONARI_VECTOR_NULL;
  must(tonari_vector_create_from_ids(MPI_COMM_WORLD, grid.own_cells(), ids.data(), nullptr,
                                     static_cast<std::int64_t>(lists.met.size()), lists.met.data(),
                                     nullptr, MPI_INFO_NULL, &vector));
  expect_facts(vector);
  std::vector<double> ghosts(lists.met.size(), -1);
  must(tonari_vector_forward(vector, nullptr, own_values(1).data(), ghosts.data()));
  for (std::size_t k = 0; k < ghosts.size(); ++k) ASSERT_EQ(ghosts[k], value(lists.met[k], 1));
  must(tonari_vector_free(&vector));
}

// By MPI's own kind of neighborhood, packed by the program as HPCG does.
TEST_P(HpcgHalo, BlocksOfNeighborsAreTheExternals) {
  const int n = static_cast<int>(lists.neighbors.size());
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  must(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, n, lists.neighbors.data(),
                                           MPI_UNWEIGHTED, n, lists.neighbors.data(),
                                           MPI_UNWEIGHTED, MPI_INFO_NULL, &near));
  std::vector<MPI_Aint> out, in;
  MPI_Aint sent = 0, received = 0;
  for (int k = 0; k < n; ++k) {
    out.push_back(sent), in.push_back(received);
    sent += lists.send_counts[k], received += lists.recv_counts[k];
  }
  const std::vector<double> x = own_values(2);
  std::vector<double> packed, externals(lists.externals.size(), -1);
  for (const int row : lists.rows) packed.push_back(x[static_cast<std::size_t>(row)]);
  must(tonari_alltoallv(packed.data(), lists.send_counts.data(), out.data(), MPI_DOUBLE,
                        externals.data(), lists.recv_counts.data(), in.data(), MPI_DOUBLE, near));
  expect_externals(externals.data(), 2);
  must(tonari_neighborhood_free(&near));
}

// The ghosts of a grid with one layer around each box, those that an exchange fills.
TEST_P(HpcgHalo, GhostsOfAGridAreTheExternals) {
  const int sizes[3] = {static_cast<int>(grid.ranks[2]), static_cast<int>(grid.ranks[1]),
                        static_cast<int>(grid.ranks[0])};
  const int open[3] = {0, 0, 0};
  MPI_Comm cart;
  MPI_Cart_create(MPI_COMM_WORLD, 3, sizes, open, 0, &cart);
  tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
  shape.dims = 3, shape.type = MPI_DOUBLE;
  const Cell all = grid.global(), box = grid.box;
  for (int k = 0; k < 3; ++k) shape.cells[k] = all[2 - k], shape.lower[k] = shape.upper[k] = 1;
  const Cell with_ghosts{box[0] + 2, box[1] + 2, box[2] + 2};
  std::vector<double> array(
      static_cast<std::size_t>(with_ghosts[0] * with_ghosts[1] * with_ghosts[2]), -1);
  const auto at = [&](const Cell& cell) -> double& {  // of the whole grid
    Cell here;
    for (int d = 0; d < 3; ++d) here[d] = cell[d] - grid.place[d] * box[d] + 1;
    return array[static_cast<std::size_t>(Hpcg::number(here, with_ghosts))];
  };
  void* const arrays[] = {array.data()};
  tonari_grid made = TONARI_GRID_NULL;
  must(tonari_grid_create(cart, &shape, arrays, MPI_INFO_NULL, &made));
  for (std::int64_t row = 0; row < grid.own_cells(); ++row)
    at(grid.own(row)) = value(grid.id(grid.own(row)), 3);
  must(tonari_grid_forward(made, 0, nullptr));
  std::size_t filled = 0;
  for (const double found : array) filled += found != -1;
  EXPECT_EQ(filled, own + lists.externals.size());
  for (const std::int64_t id : lists.externals) {
    const Cell cell{id % all[0], id / all[0] % all[1], id / (all[0] * all[1])};
    ASSERT_EQ(at(cell), value(id, 3)) << "external " << id;
  }
  must(tonari_grid_free(&made));
  MPI_Comm_free(&cart);
}

INSTANTIATE_TEST_SUITE_P(Boxes, HpcgHalo,
                         testing::Values(Cell{1, 1, 1}, Cell{2, 3, 4}, Cell{5, 4, 3},
                                         Cell{8, 8, 8}));

}  // namespace
