// Reverse exchanges: every own cell becomes what the ghosts of it on all ranks make of it. Each
// rank computes that alone, ghost by ghost, from what all ranks have.
#include <complex>
#include <map>

#include "grid/chosen_ghosts.hpp"
#include "support/contains.hpp"
#include "support/random_sizes.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

constexpr const char* on_arrays[] = {"plan", "pack", "datatypes"};
constexpr const char* on_bricks[] = {"layout", "basic", "plan"};
constexpr const char* on_mapped[] = {"memmap", "layout", "plan"};

// A number of a cell, own or ghost, of any rank. Sums of fractions show in which order they were
// added.
template <class T>
T number(std::uint64_t seed) {
  const auto bits = static_cast<std::int32_t>(mix(seed) >> 40);
  if constexpr (sizeof(T) == 1)
    return static_cast<T>(bits % 3);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(bits % 1000 - 500);
  else
    return static_cast<T>(bits % 100'000 - 50'000) / T(3);
}
template <>
std::complex<double> number(std::uint64_t seed) {
  return {number<double>(seed), number<double>(seed + 1)};
}

template <class T>
T combine(MPI_Op op, T a, T b) {
  if constexpr (std::is_arithmetic_v<T>) {
    if (op == MPI_MIN) return std::min(a, b);
    if (op == MPI_MAX) return std::max(a, b);
  }
  return static_cast<T>(a + b);
}

template <class T>
class Reverse {
 public:
  Reverse(const Geometry& geometry, int storage, int components)
      : t(geometry, storage), components_(components) {}

  static T value(int rank, int s, int field, const Index& x, int component, int round) {
    std::uint64_t seed = static_cast<std::uint64_t>(rank * 64 + s) * 1000 +
                         static_cast<std::uint64_t>(field * 100 + round);
    for (const std::int64_t at : x) seed = mix(seed) + static_cast<std::uint64_t>(at);
    return number<T>(seed + 7 * static_cast<std::uint64_t>(component));
  }

  void fill(int copy, int round) const {
    t.for_fields([&](int s, int f) {
      std::vector<T> all;
      const tonari_box whole = t.g.whole(world_rank(), s);
      for_cells(whole, t.g.dims, [&](const Index& x) {
        for (int c = 0; c < components_; ++c) all.push_back(value(world_rank(), s, f, x, c, round));
      });
      must(tonari_grid_import(t.grid, s, copy, f, &whole, all.data()));
    });
  }

  // Ghosts as they were; own cells combined, subdomain after subdomain of the whole grid.
  void expect(const ChosenGhosts& chosen, MPI_Op op, int copy, int round) const {
    t.for_fields([&](int s, int f) {
      std::vector<T> want;
      std::map<Index, std::size_t> place;  // of own cells, by where they are in the whole grid
      const Index first = t.g.first(world_rank(), s), own = t.g.own(world_rank(), s);
      for_cells(t.g.whole(world_rank(), s), t.g.dims, [&](const Index& x) {
        if (is_own(x, own)) place[global(first, x, false)] = want.size();
        for (int c = 0; c < components_; ++c)
          want.push_back(value(world_rank(), s, f, x, c, round));
      });
      for (const Ghost& ghost : all_ghosts(chosen)) {
        const auto mine = place.find(ghost.owner);
        if (mine == place.end()) continue;
        for (int c = 0; c < components_; ++c) {
          T& cell = want[mine->second + static_cast<std::size_t>(c)];
          cell = combine(op, cell, value(ghost.rank, ghost.subdomain, f, ghost.x, c, round));
        }
      }
      std::vector<T> got(want.size());
      const tonari_box whole = t.g.whole(world_rank(), s);
      must(tonari_grid_export(t.grid, s, copy, f, &whole, got.data()));
      EXPECT_TRUE(std::memcmp(got.data(), want.data(), got.size() * sizeof(T)) == 0)
          << "subdomain " << s << ", field " << f << ": " << first_difference(got, want) << "; "
          << chosen.text(t.g);
    });
  }

  TestGrid t;

 private:
  static std::string first_difference(const std::vector<T>& got, const std::vector<T>& want) {
    const auto differs = std::mismatch(got.begin(), got.end(), want.begin());
    return "value " + std::to_string(differs.first - got.begin()) + " of " +
           std::to_string(got.size());
  }
  bool is_own(const Index& x, const Index& own) const {
    for (int k = 0; k < t.g.dims; ++k)
      if (x[k] < 0 || x[k] >= own[k]) return false;
    return true;
  }
  // Where a cell is in the whole grid; outside of it beyond an open border.
  Index global(const Index& first, const Index& x, bool wrap = true) const {
    Index at{};
    for (int k = 0; k < t.g.dims; ++k) {
      at[k] = first[k] + x[k];
      if (wrap && t.g.periodic[k]) at[k] = (at[k] + t.g.total(k)) % t.g.total(k);
    }
    return at;
  }
  struct Ghost {
    int direction;  // from its subdomain
    int rank, subdomain;
    Index x, owner;  // where it is in its subdomain, and in the whole grid
  };
  // Of all ranks. Owners combine those of neighbors on their lower side first; seen from there, the
  // owner is on the upper side.
  std::vector<Ghost> all_ghosts(const ChosenGhosts& chosen) const {
    std::vector<Ghost> all;
    for (int rank = 0; rank < world_size(); ++rank)
      for (int s = 0; s < t.g.subdomains(); ++s) {
        const Index first = t.g.first(rank, s), own = t.g.own(rank, s);
        for_cells(t.g.whole(rank, s), t.g.dims, [&](const Index& x) {
          if (is_own(x, own) || !chosen.has(t.g, own, x)) return;
          int direction = 0;
          for (int k = 0; k < t.g.dims; ++k)
            direction = direction * 3 + (x[k] < 0 ? 0 : x[k] >= own[k] ? 2 : 1);
          all.push_back({direction, rank, s, x, global(first, x)});
        });
      }
    std::stable_sort(all.begin(), all.end(),
                     [](const Ghost& a, const Ghost& b) { return a.direction > b.direction; });
    return all;
  }

  int components_;
};

template <class T>
void run(Random& random, Geometry g, int storage, MPI_Datatype type, MPI_Op op) {
  const int components = pick(random, 0, 3) == 0 ? 2 : 1;
  g.shape.type = type, g.element_bytes = sizeof(T) * static_cast<std::size_t>(components);
  g.shape.fields = pick(random, 0, 2), g.shape.copies = 2;
  if (components > 1) MPI_Type_contiguous(components, type, &g.shape.type);
  const bool bricked = storage != TONARI_STORAGE_ARRAY;
  const Reverse<T> grid(g, storage, components);
  if (components > 1) MPI_Type_free(&g.shape.type);
  const auto& kinds = !bricked                          ? on_arrays
                      : storage == TONARI_STORAGE_BRICK ? on_bricks
                                                        : on_mapped;
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
