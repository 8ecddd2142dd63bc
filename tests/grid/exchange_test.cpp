// SPDX-License-Identifier: BSD-3-Clause
// Halo exchanges of every storage and kind on random grids: each cell holds what its place in the
// whole grid says, and all storages hold the same bytes as arrays do.
#include "grid/grids.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/graph_exchange.hpp"
#include "support/random_sizes.hpp"

namespace {

using namespace tonari::test;

struct Way {
  int storage;
  bool mapped_ghosts;
  const char* halo;
};
constexpr Way on_arrays[] = {{TONARI_STORAGE_ARRAY, false, "pack"},
                             {TONARI_STORAGE_ARRAY, false, "datatypes"},
                             {TONARI_STORAGE_ARRAY, false, "shift"},
                             {TONARI_STORAGE_ARRAY, false, "plan"}};
constexpr Way on_bricks[] = {{TONARI_STORAGE_BRICK, false, "layout"},
                             {TONARI_STORAGE_BRICK, false, "basic"},
                             {TONARI_STORAGE_BRICK, false, "plan"}};
constexpr Way on_mapped[] = {{TONARI_STORAGE_MAPPED, false, "memmap"},
                             {TONARI_STORAGE_MAPPED, false, "shift"},
                             {TONARI_STORAGE_MAPPED, false, "layout"},
                             {TONARI_STORAGE_MAPPED, false, "plan"}};
constexpr Way on_ghosts[] = {{TONARI_STORAGE_MAPPED, true, "zero-byte"}};

// Plans on neighborhoods of equal offsets only.
const char* random_algorithm(Random& random, const Geometry& g, const char* halo) {
  static const char* const names[] = {"auto", "linear", "torus", "torus-direct"};
  const int number = pick(random, 0, 3);
  return std::string(halo) == "plan" && g.subdomains() == 1 ? names[number] : "auto";
}

class Exchanges {
 public:
  Exchanges(const Geometry& geometry, Random& random, bool faces)
      : g_(geometry), random_(random), faces_(faces) {}

  // All ways of one storage, one after the other on one grid. The first of all is what the others
  // are compared with: an array, if it is cut alike.
  template <std::size_t n>
  void on(const Way (&ways)[n]) {
    const bool own_arrays = ways[0].storage == TONARI_STORAGE_ARRAY && pick(random_, 0, 1) == 1;
    TestGrid t(g_, ways[0].storage, ways[0].mapped_ghosts, own_arrays);
    for (const Way& way : ways) run(t, way);
  }

 private:
  void run(TestGrid& t, const Way& way) {
    SCOPED_TRACE(std::string("storage ") + std::to_string(way.storage) + ", " + way.halo +
                 (way.mapped_ghosts ? ", mapped ghosts" : ""));
    const char* const algorithm = random_algorithm(random_, g_, way.halo);
    std::vector<tonari_request> requests;
    for (int c = 0; c < t.copies; ++c)
      requests.push_back(request_of(t, c, way.halo, faces_, algorithm));
    const bool by_test = (world_rank() + pick(random_, 0, 1)) % 2 == 0,
               shift = std::string(way.halo) == "shift";
    // With mapped ghosts copies are written in turn, and what is compared was read before the next
    // copy is exchanged.
    for (int round = 0; round < std::max(2, t.copies); ++round) {
      const int copy = round % t.copies;
      t.fill(copy, round);
      must(tonari_start(requests[static_cast<std::size_t>(copy)]));
      must(complete(requests[static_cast<std::size_t>(copy)], by_test));
      EXPECT_TRUE(t.holds(copy, round, faces_, shift)) << algorithm;
      if (!faces_ && round == 0 && t.g.cuts == g_.cuts) compare(t.all(copy));
    }
    for (tonari_request& request : requests) must(tonari_request_free(&request));
  }

  void compare(std::vector<unsigned char> bytes) {
    if (first_.empty())
      first_ = std::move(bytes);
    else
      EXPECT_TRUE(bytes == first_) << "not what the first storage holds; " << g_.text();
  }

  const Geometry& g_;
  Random& random_;
  bool faces_;
  std::vector<unsigned char> first_;
};

// A page for mapped storages: small ones where there are many regions.
std::size_t draw_page(Random& random, int dims) {
  const std::size_t pages[] = {0, 4096, 16384, 65536};
  return pages[pick(random, 0, dims <= 2 ? 3 : dims == 3 ? 2 : 1)];
}

void run_bricked(Random& random, int dims) {
  Geometry g = draw_geometry(random, dims, true);
  g.shape.interleaved = pick(random, 0, 1);
  g.shape.page = draw_page(random, dims);
  SCOPED_TRACE(g.text());
  Exchanges exchanges(g, random, pick(random, 0, 3) == 0);
  exchanges.on(on_arrays);
  exchanges.on(on_bricks);
  if (g.element_bytes != 12) {
    exchanges.on(on_mapped);
    exchanges.on(on_ghosts);
  }
  if (g.ours) MPI_Type_free(&g.shape.type);
}

void run_arrays(Random& random, int dims) {
  Geometry g = draw_geometry(random, dims, false);
  SCOPED_TRACE(g.text());
  Exchanges(g, random, pick(random, 0, 3) == 0).on(on_arrays);
  if (g.ours) MPI_Type_free(&g.shape.type);
}

// So that a run takes seconds.
int few() { return crowded() ? 1 : world_size() == 1 ? 24 : world_size() == 2 ? 12 : 6; }
// in five dimensions a grid has 242 neighbors
int most() { return !crowded() ? most_dims : world_size() <= 4 ? 4 : 3; }

TEST(GridExchange, RandomGridsInAllStorages) {
  Random random(11);
  for (int repeat = 0; repeat < few(); ++repeat)
    for (int dims = 1; dims <= (repeat % 4 == 0 ? most() : 3); ++dims) run_bricked(random, dims);
}

TEST(GridExchange, RandomGridsInArrays) {
  Random random(12);
  for (int repeat = 0; repeat < (crowded() ? 1 : 2 * few()); ++repeat)
    for (int dims = 1; dims <= (repeat % 4 == 0 ? most() : 3); ++dims) run_arrays(random, dims);
}

TEST(GridExchange27, RandomGrids) {
  Random random(13);
  run_bricked(random, 3);
  run_arrays(random, 2);
}

// Messages where nodes differ, pages where they do not.
TEST(GridExchange, MappedGhostsOnSeveralNodes) {
  Random random(14);
  const Nodes before;
  for (int repeat = 0; repeat < few(); ++repeat)
    for (const int size : {1, 2}) {
      Geometry g = draw_geometry(random, pick(random, 1, 3), true);
      g.shape.interleaved = pick(random, 0, 1);
      if (g.element_bytes == 12) continue;
      for (int r = 0; r < world_size(); ++r) g.node[static_cast<std::size_t>(r)] = r / size;
      Nodes::set(std::to_string(size));
      SCOPED_TRACE(g.text() + ", nodes of " + std::to_string(size));
      Exchanges exchanges(g, random, pick(random, 0, 1) == 1);
      exchanges.on(on_ghosts);
      if (g.ours) MPI_Type_free(&g.shape.type);
    }
}

// The request of the first copy exchanges all of them; their fields lie alike.
void run_any_arrays(Random& random, int dims) {
  Geometry g = draw_geometry(random, dims, false);
  g.shape.copies = 3;
  const bool faces = pick(random, 0, 3) == 0,
             own_arrays = g.shape.fields < 2 && pick(random, 0, 1) == 1;
  SCOPED_TRACE(g.text());
  TestGrid t(g, TONARI_STORAGE_ARRAY, false, own_arrays);
  for (const Way& way : on_arrays) {
    SCOPED_TRACE(way.halo);
    tonari_request request =
        request_of(t, 0, way.halo, faces, random_algorithm(random, g, way.halo));
    for (int round = 0; round < 6; ++round) {
      const int copy = round * round % 3;
      t.fill(copy, round);
      must(tonari_grid_start_with(request, t.arrays(copy).data()));
      must(complete(request, (world_rank() + round) % 2 == 0));
      EXPECT_TRUE(t.holds(copy, round, faces, std::string(way.halo) == "shift"));
    }
    must(tonari_request_free(&request));
  }
  if (g.ours) MPI_Type_free(&g.shape.type);
}

TEST(GridExchange, AnyArraysByOneRequest) {
  Random random(15);
  for (int repeat = 0; repeat < (crowded() ? 2 : 2 * few()); ++repeat)
    for (int dims = 1; dims <= 3; ++dims) run_any_arrays(random, dims);
}

// What is chosen by timing, or by rule, fills ghosts as well; own cells are as they were after the
// timing.
TEST(GridExchange, ChosenBySelection) {
  const FreshWisdom little_time("0.02");
  const Geometry g = plain_geometry(2, 16, 2);
  for (const int storage : {TONARI_STORAGE_ARRAY, TONARI_STORAGE_BRICK, TONARI_STORAGE_MAPPED})
    for (const char* tune : {"measure", "model"}) {
      // times plans, too
      if (crowded() && std::string(tune) == "measure" &&
          (storage != TONARI_STORAGE_BRICK || world_size() > 4))
        continue;
      TestGrid t(g, storage);
      t.fill(1, 0);
      tonari_request request = TONARI_REQUEST_NULL;
      must(tonari_grid_exchange_init(t.grid, 1, Info{{"tonari_tune", tune}}, &request));
      std::string chosen = tonari_request_describe(request);
      chosen.resize(chosen.find("sends:"));  // the numbers behind it may differ
      char first[200] = "";
      chosen.copy(first, sizeof first - 1);
      MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
      EXPECT_EQ(chosen, first) << "ranks chose differently";
      EXPECT_CONTAINS(chosen, std::string(tune) == "measure" ? "(measured)" : "(fixed rule)");
      must(start_and_wait(request));
      EXPECT_TRUE(t.holds(1, 0, false, false)) << chosen;
      must(tonari_request_free(&request));
    }
}

}  // namespace
