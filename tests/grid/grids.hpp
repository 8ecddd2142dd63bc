// SPDX-License-Identifier: BSD-3-Clause
// Grids of random shapes, and what every cell of them must hold: a function of its place in the
// whole grid, computed without asking the library.
#pragma once

#include <gtest/gtest.h>
#include <tonari/grid.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "support/cells.hpp"
#include "support/must.hpp"
#include "support/oracle.hpp"

namespace tonari::test {

// The types of cells.
struct CellType {
  MPI_Datatype type;
  std::size_t bytes;
  bool ours = false;
};
inline CellType cell_type(int number) {
  const auto several = [](int count) {
    CellType made{MPI_DATATYPE_NULL, 4 * static_cast<std::size_t>(count), true};
    MPI_Type_contiguous(count, MPI_INT32_T, &made.type);
    return made;
  };
  switch (number % 8) {
    case 0:
      return {MPI_FLOAT, 4};
    case 1:
      return {MPI_INT32_T, 4};
    case 2:
      return {MPI_CHAR, 1};
    case 3:
      return {MPI_C_DOUBLE_COMPLEX, 16};
    case 4:
      return several(4);
    case 5:
      return several(3);  // no power of two: pages hold no whole number of them
    default:
      return {MPI_DOUBLE, 8};
  }
}

// A grid of cells on a Cartesian grid of all ranks. All ranks draw the same.
struct Geometry {
  int dims = 1;
  std::array<int, most_dims> ranks{}, periodic{}, per_rank{};
  // own cells of the subdomains along a dimension
  std::array<std::vector<std::int64_t>, most_dims> cuts{};
  tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;  // all but the cells if they are local
  std::size_t element_bytes = 8;
  bool ours = false;      // the type has to be freed
  std::vector<int> node;  // of each rank
  // mapped ghosts are those that a rank with memory there owns itself
  bool some_on_device = false;

  std::int64_t total(int k) const {
    std::int64_t sum = 0;
    for (const std::int64_t own : cuts[k]) sum += own;
    return sum;
  }
  Index coordinates(int rank) const {
    Index at{};
    for (int k = dims - 1; k >= 0; rank /= ranks[k--]) at[k] = rank % ranks[k];
    return at;
  }
  int subdomains() const {
    int product = 1;
    for (int k = 0; k < dims; ++k) product *= per_rank[k];
    return product;
  }
  // In the grid of subdomains.
  Index position(int rank, int subdomain) const {
    Index at = coordinates(rank);
    for (int k = dims - 1; k >= 0; subdomain /= per_rank[k--])
      at[k] = at[k] * per_rank[k] + subdomain % per_rank[k];
    return at;
  }
  Index first(int rank, int subdomain) const {
    const Index at = position(rank, subdomain);
    Index sum{};
    for (int k = 0; k < dims; ++k)
      for (std::int64_t i = 0; i < at[k]; ++i) sum[k] += cuts[k][i];
    return sum;
  }
  Index own(int rank, int subdomain) const {
    const Index at = position(rank, subdomain);
    Index cells{};
    for (int k = 0; k < dims; ++k) cells[k] = cuts[k][at[k]];
    return cells;
  }
  tonari_box whole(int rank, int subdomain) const {
    const Index cells = own(rank, subdomain);
    tonari_box box{};
    for (int k = 0; k < dims; ++k)
      box.first[k] = -shape.lower[k], box.end[k] = cells[k] + shape.upper[k];
    return box;
  }
  // The rank beside a subdomain; -1 beyond an open border. sides: -1, 0 or 1 per dimension.
  int neighbor(int rank, int subdomain, const Index& sides) const {
    const Index at = position(rank, subdomain);
    int other = 0;
    for (int k = 0; k < dims; ++k) {
      const auto extent = static_cast<std::int64_t>(cuts[k].size());
      std::int64_t there = at[k] + sides[k];
      if (there < 0 || there >= extent) {
        if (!periodic[k]) return -1;
        there = (there + extent) % extent;
      }
      other = other * ranks[k] + static_cast<int>(there / per_rank[k]);
    }
    return other;
  }
  MPI_Comm make_cart(MPI_Comm comm = MPI_COMM_WORLD) const {
    MPI_Comm cart = MPI_COMM_NULL;
    MPI_Cart_create(comm, dims, ranks.data(), periodic.data(), 0, &cart);
    return cart;
  }
  // The shape for a rank, with its cells filled in.
  tonari_grid_shape shape_of(int rank) const {
    tonari_grid_shape s = shape;
    const Index at = coordinates(rank);
    for (int k = 0; k < dims; ++k) s.cells[k] = s.local ? cuts[k][at[k] * per_rank[k]] : total(k);
    return s;
  }
  std::string text() const {
    std::string line = std::to_string(dims) + "-d";
    for (int k = 0; k < dims; ++k) {
      line += " [" + std::to_string(ranks[k]) + " ranks x " + std::to_string(per_rank[k]) +
              (periodic[k] ? " periodic:" : " open:");
      for (const std::int64_t own : cuts[k]) line += " " + std::to_string(own);
      line += "; -" + std::to_string(shape.lower[k]) + " +" + std::to_string(shape.upper[k]) +
              "; brick " + std::to_string(shape.brick[k]) + "]";
    }
    return line + ", " + std::to_string(shape.fields) + (shape.interleaved ? " interleaved" : "") +
           " fields, " + std::to_string(shape.copies) + " copies, cells of " +
           std::to_string(element_bytes) + " bytes, page " + std::to_string(shape.page) +
           (shape.local ? ", local" : "");
  }
};

inline void draw_ranks(Random& random, Geometry& g) {
  g.ranks.fill(0);
  if (world_size() > 8)
    MPI_Dims_create(world_size(), g.dims, g.ranks.data());
  else
    std::fill_n(g.ranks.begin(), g.dims, 1);
  for (int rest = world_size() > 8 ? 1 : world_size(), prime = 2; rest > 1;) {
    if (rest % prime)
      ++prime;
    else
      g.ranks[pick(random, 0, g.dims - 1)] *= prime, rest /= prime;
  }
  g.node.assign(static_cast<std::size_t>(world_size()), 0);
}

// Own cells of `parts` subdomains that differ by one unit at most, the larger first.
inline std::vector<std::int64_t> even_cuts(std::int64_t units, std::int64_t unit, int parts) {
  std::vector<std::int64_t> cuts;
  for (; parts > 0; --parts) {
    cuts.push_back((units + parts - 1) / parts * unit);
    units -= cuts.back() / unit;
  }
  return cuts;
}

// bricked: whether all storages can hold it; else widths and cells are whatever arrays can have.
inline Geometry draw_geometry(Random& random, int dims, bool bricked) {
  Geometry g;
  g.dims = g.shape.dims = dims;
  draw_ranks(random, g);
  g.shape.local = pick(random, 0, 2) == 0;
  const int least_brick = dims == 1 ? 2 : 1, most_brick = dims == 1   ? 9
                                                          : dims == 2 ? 5
                                                          : dims == 3 ? 4
                                                                      : 2;
  for (int k = 0; k < dims; ++k) {
    g.periodic[k] = pick(random, 0, 2) != 0;
    g.per_rank[k] = dims < 4 && pick(random, 0, 3) == 0 ? 2 : 1;
    g.shape.subdomains[k] = g.per_rank[k] == 1 ? pick(random, 0, 1) : g.per_rank[k];
    const std::int64_t unit = bricked ? pick(random, least_brick, most_brick) : 1;
    g.shape.brick[k] = bricked ? unit : 0;
    const int widest = bricked ? (dims < 4 ? 2 : 1) : (dims < 4 ? 4 : 2);
    g.shape.lower[k] = unit * pick(random, 0, widest),
    g.shape.upper[k] = unit * pick(random, 0, widest);
    const std::int64_t least =
        std::max<std::int64_t>(bricked ? g.shape.lower[k] + g.shape.upper[k]
                                       : std::max(g.shape.lower[k], g.shape.upper[k]),
                               unit) /
        unit;
    const int parts = g.ranks[k] * g.per_rank[k];
    if (!g.shape.local)
      g.cuts[k] = even_cuts(least * parts + pick(random, 0, dims < 4 ? 2 * parts : 1), unit, parts);
    else
      for (int c = 0; c < g.ranks[k]; ++c)
        g.cuts[k].insert(g.cuts[k].end(), static_cast<std::size_t>(g.per_rank[k]),
                         unit * (least + pick(random, 0, dims < 4 ? 2 : 1)));
  }
  g.shape.fields = pick(random, 0, dims < 5 ? 3 : 2);
  g.shape.copies = pick(random, 1, dims < 4 ? 3 : 2);
  const CellType type = cell_type(static_cast<int>(random() % 8));
  g.shape.type = type.type, g.element_bytes = type.bytes, g.ours = type.ours;
  return g;
}

// ---- what is in a cell

inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Of ghosts before an exchange; different ones, so that it is seen where they travel instead of
// being left alone.
inline unsigned char poison_of(int subdomain) {
  return static_cast<unsigned char>(0x80 + (world_rank() * 13 + subdomain * 5) % 127);
}

inline void put_value(const Geometry& g, const Index& global, int copy, int field, int round,
                      unsigned char* at) {
  std::uint64_t number = static_cast<std::uint64_t>(copy * 1000 + field * 100) +
                         static_cast<std::uint64_t>(round) * 100'000;
  for (int k = 0; k < g.dims; ++k) number = mix(number) + static_cast<std::uint64_t>(global[k]);
  for (std::size_t done = 0; done < g.element_bytes; done += 8) {
    const std::uint64_t word = mix(number + done);
    std::memcpy(at + done, &word, std::min<std::size_t>(8, g.element_bytes - done));
  }
}

// A field of a subdomain with its ghosts, lexicographic. filled(sides): whether the ghosts on those
// sides must hold their owner's values; else they are poisoned.
template <class Filled>
std::vector<unsigned char> expected(const Geometry& g, int subdomain, int copy, int field,
                                    int round, Filled filled) {
  const tonari_box whole = g.whole(world_rank(), subdomain);
  const Index first = g.first(world_rank(), subdomain), own = g.own(world_rank(), subdomain);
  std::array<int, 243> fills;  // by the number of a direction: not known yet, no, yes
  fills.fill(-1);
  std::vector<unsigned char> bytes(
      static_cast<std::size_t>(cells_in(whole, g.dims)) * g.element_bytes, poison_of(subdomain));
  unsigned char* at = bytes.data();
  for_cells(whole, g.dims, [&](const Index& x) {
    Index sides{}, global{};
    int direction = 0;
    for (int k = 0; k < g.dims; ++k) {
      sides[k] = x[k] < 0 ? -1 : x[k] >= own[k] ? 1 : 0;
      direction = direction * 3 + static_cast<int>(sides[k]) + 1;
      global[k] = (first[k] + x[k] + g.total(k)) % g.total(k);
    }
    int& known = fills[static_cast<std::size_t>(direction)];
    if (known < 0) known = sides == Index{} || filled(sides);
    if (known) put_value(g, global, copy, field, round, at);
    at += g.element_bytes;
  });
  return bytes;
}

// ---- a grid of the library

inline constexpr int all_storages[] = {TONARI_STORAGE_ARRAY, TONARI_STORAGE_BRICK,
                                       TONARI_STORAGE_MAPPED};

// As the library cuts it: arrays in cells, where others are cut in bricks.
inline Geometry cut_for(Geometry g, int storage) {
  for (int k = 0; k < g.dims && storage == TONARI_STORAGE_ARRAY && !g.shape.local; ++k)
    g.cuts[k] = even_cuts(g.total(k), 1, g.ranks[k] * g.per_rank[k]);
  return g;
}

class TestGrid {
 public:
  // own_arrays: storage array wraps arrays of this program.
  TestGrid(const Geometry& geometry, int storage, bool mapped_ghosts = false,
           bool own_arrays = false)
      : g(cut_for(geometry, storage)), mapped_ghosts_(mapped_ghosts) {
    tonari_grid_shape shape = g.shape_of(world_rank());
    shape.storage = storage;
    if (storage == TONARI_STORAGE_ARRAY) shape.interleaved = 0;
    if (storage != TONARI_STORAGE_MAPPED) shape.page = 0;
    shape.mapped_ghosts = mapped_ghosts;
    if (mapped_ghosts) shape.copies = std::max(shape.copies, 2);
    copies = shape.copies;
    if (own_arrays) allocate();
    MPI_Comm cart = g.make_cart();
    must(tonari_grid_create(cart, &shape, own_arrays ? pointers_.data() : nullptr, MPI_INFO_NULL,
                            &grid));
    MPI_Comm_free(&cart);  // the grid has its own
    fields = std::max(g.shape.fields, 1);
  }
  ~TestGrid() { must(tonari_grid_free(&grid)); }
  TestGrid(const TestGrid&) = delete;
  TestGrid& operator=(const TestGrid&) = delete;

  // Own cells of this round, and all ghosts that can be written poisoned.
  void fill(int copy, int round) {
    for_fields([&](int s, int f) {
      const std::vector<unsigned char> all =
          expected(g, s, copy, f, round, [](const Index&) { return false; });
      if (mapped_ghosts_)
        write_by_parts(s, copy, f, all);
      else {
        const tonari_box whole = g.whole(world_rank(), s);
        must(tonari_grid_import(grid, s, copy, f, &whole, all.data()));
      }
    });
  }

  std::vector<unsigned char> field(int subdomain, int copy, int f) const {
    const tonari_box whole = g.whole(world_rank(), subdomain);
    std::vector<unsigned char> bytes(static_cast<std::size_t>(cells_in(whole, g.dims)) *
                                     g.element_bytes);
    must(tonari_grid_export(grid, subdomain, copy, f, &whole, bytes.data()));
    return bytes;
  }

  // All fields of all subdomains of a copy, ghosts included.
  std::vector<unsigned char> all(int copy) const {
    std::vector<unsigned char> bytes;
    for_fields([&](int s, int f) {
      const std::vector<unsigned char> some = field(s, copy, f);
      bytes.insert(bytes.end(), some.begin(), some.end());
    });
    return bytes;
  }

  // After an exchange: ghosts hold their owners' cells, those that no exchange of this kind fills
  // and those beyond open borders are as they were, own cells too.
  ::testing::AssertionResult holds(int copy, int round, bool faces, bool shift) const {
    std::string wrong;
    for_fields([&](int s, int f) {
      const std::vector<unsigned char> want =
          expected(g, s, copy, f, round, [&](const Index& sides) {
            const int other = g.neighbor(world_rank(), s, sides);
            const auto signs = std::count_if(sides.begin(), sides.end(),
                                             [](std::int64_t side) { return side != 0; });
            return other >= 0 && (!faces || shift || signs == 1 || shown(other));
          });
      if (const std::vector<unsigned char> got = field(s, copy, f); got != want && wrong.empty())
        wrong = difference(s, f, got, want);
      if (!pointers_.empty() &&
          std::memcmp(array_of(s, copy, f).data(), want.data(), want.size()) != 0 && wrong.empty())
        wrong = "the program's own array differs";
    });
    return wrong.empty() ? ::testing::AssertionSuccess()
                         : ::testing::AssertionFailure() << wrong << " of copy " << copy
                                                         << ", round " << round << "; " << g.text();
  }

  template <class F>
  void for_fields(F f) const {
    for (int s = 0; s < g.subdomains(); ++s)
      for (int field = 0; field < fields; ++field) f(s, field);
  }

  // The arrays of a copy, as tonari_grid_start_with takes them.
  std::vector<void*> arrays(int copy) const {
    std::vector<void*> all;
    for_fields(
        [&](int s, int f) { must(tonari_grid_data(grid, s, copy, f, &all.emplace_back())); });
    return all;
  }

  const Geometry g;
  tonari_grid grid = TONARI_GRID_NULL;
  int copies = 1, fields = 1;

 private:
  // Whether ghosts that this rank owns are its pages.
  bool shown(int other) const {
    if (mapped_ghosts_ && g.some_on_device)
      return g.shape.memory == TONARI_MEMORY_DEVICE && other == world_rank();
    return mapped_ghosts_ && g.node[static_cast<std::size_t>(other)] ==
                                 g.node[static_cast<std::size_t>(world_rank())];
  }

  void allocate() {
    const int subdomains = g.subdomains(), all = std::max(g.shape.fields, 1);
    for (int c = 0; c < copies; ++c)
      for (int s = 0; s < subdomains; ++s)
        for (int f = 0; f < all; ++f)
          arrays_.emplace_back(
              static_cast<std::size_t>(cells_in(g.whole(world_rank(), s), g.dims)) *
              g.element_bytes);
    for (std::vector<unsigned char>& array : arrays_) pointers_.push_back(array.data());
  }
  const std::vector<unsigned char>& array_of(int s, int copy, int f) const {
    return arrays_[static_cast<std::size_t>((copy * g.subdomains() + s) * fields + f)];
  }

  // Where neighbors' pages are shown nothing may be written.
  void write_by_parts(int s, int copy, int f, const std::vector<unsigned char>& all) {
    const Index own = g.own(world_rank(), s);
    std::map<Index, std::vector<unsigned char>> parts;  // by side
    const unsigned char* at = all.data();
    for_cells(g.whole(world_rank(), s), g.dims, [&](const Index& x) {
      Index sides{};
      for (int k = 0; k < g.dims; ++k) sides[k] = x[k] < 0 ? -1 : x[k] >= own[k] ? 1 : 0;
      std::vector<unsigned char>& part = parts[sides];
      part.insert(part.end(), at, at + g.element_bytes);
      at += g.element_bytes;
    });
    for (const auto& [sides, part] : parts) {
      const int other = sides == Index{} ? -1 : g.neighbor(world_rank(), s, sides);
      if (other >= 0 && shown(other)) continue;
      tonari_box box{};
      for (int k = 0; k < g.dims; ++k) {
        box.first[k] = sides[k] < 0 ? -g.shape.lower[k] : sides[k] > 0 ? own[k] : 0;
        box.end[k] = sides[k] < 0 ? 0 : sides[k] > 0 ? own[k] + g.shape.upper[k] : own[k];
      }
      must(tonari_grid_import(grid, s, copy, f, &box, part.data()));
    }
  }

  std::string difference(int s, int f, const std::vector<unsigned char>& got,
                         const std::vector<unsigned char>& want) const {
    std::string line;
    std::size_t at = 0;
    const std::vector<unsigned char> poison(g.element_bytes, poison_of(s));
    for_cells(g.whole(world_rank(), s), g.dims, [&](const Index& x) {
      const bool same = std::memcmp(&got[at], &want[at], g.element_bytes) == 0,
                 poisoned = std::memcmp(&got[at], poison.data(), g.element_bytes) == 0,
                 wanted_poison = std::memcmp(&want[at], poison.data(), g.element_bytes) == 0;
      at += g.element_bytes;
      if (same || !line.empty()) return;
      line = "cell";
      for (int k = 0; k < g.dims; ++k) line += " " + std::to_string(x[k]);
      line += wanted_poison ? " was to be left alone"
              : poisoned    ? " was not filled"
                            : " holds something else";
      line += ": subdomain " + std::to_string(s) + ", field " + std::to_string(f);
    });
    return line;
  }

  bool mapped_ghosts_;
  std::vector<std::vector<unsigned char>> arrays_;
  std::vector<void*> pointers_;
};

// A small grid without surprises: bricks of 4, halos of 4, `own` cells per rank and dimension,
// periodic.
inline Geometry plain_geometry(int dims, std::int64_t own, int copies = 1) {
  Geometry g;
  g.dims = g.shape.dims = dims;
  MPI_Dims_create(world_size(), dims, g.ranks.data());
  for (int k = 0; k < dims; ++k) {
    g.periodic[k] = 1, g.per_rank[k] = 1;
    g.shape.brick[k] = g.shape.lower[k] = g.shape.upper[k] = 4;
    g.cuts[k].assign(static_cast<std::size_t>(g.ranks[k]), own);
  }
  g.shape.copies = copies;
  g.shape.type = MPI_DOUBLE;
  g.node.assign(static_cast<std::size_t>(world_size()), 0);
  return g;
}

// The same with all ranks along dimension 0; along the others each rank is its own neighbor.
inline Geometry row_of_ranks(int dims, std::int64_t own, int copies = 1) {
  Geometry g = plain_geometry(dims, own, copies);
  g.ranks.fill(1);
  g.ranks[0] = world_size();
  for (int k = 0; k < dims; ++k) g.cuts[k].assign(static_cast<std::size_t>(g.ranks[k]), own);
  return g;
}

// For mapped storage in memory of devices: on this rank, or on others only.
inline Geometry on_device(Geometry g, bool here = true) {
  g.some_on_device = true;
  g.shape.memory = here ? TONARI_MEMORY_DEVICE : TONARI_MEMORY_HOST;
  g.shape.page = 0;  // the device's
  return g;
}

// Request of a copy by one value of tonari_halo; tune off.
inline tonari_request request_of(const TestGrid& t, int copy, const char* halo, bool faces = false,
                                 const char* algorithm = "auto") {
  tonari_request request = TONARI_REQUEST_NULL;
  must(tonari_grid_exchange_init(t.grid, copy,
                                 Info{{"tonari_halo", halo},
                                      {"tonari_halo_neighbors", faces ? "faces" : "all"},
                                      {"tonari_tune", "off"},
                                      {"tonari_algorithm", algorithm}},
                                 &request));
  return request;
}

}  // namespace tonari::test
