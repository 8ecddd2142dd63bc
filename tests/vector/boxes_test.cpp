// SPDX-License-Identifier: BSD-3-Clause
// Vectors of boxes on Cartesian grids of ranks. What is shared, and what a ghost is, follows here
// from coordinates in the whole mesh, which the library never has.
#include <tonari/vector.hpp>

#include <numeric>

#include "support/contains.hpp"
#include "vector/links.hpp"

namespace {

using namespace tonari::test;

using Coordinates = std::vector<std::int64_t>;

struct Place {
  int rank;
  std::int64_t place;
  auto operator<=>(const Place&) const = default;
};

// A mesh of cells cut into boxes, known to all ranks.
struct Mesh {
  std::vector<int> ranks, periodic;    // by dimension
  std::vector<std::vector<int>> cuts;  // cells of each box along a dimension
  bool nodes = false;
  int width = 1, along = 0;

  std::size_t dims() const { return ranks.size(); }
  Coordinates position(int rank) const {
    Coordinates at(dims());
    for (std::size_t k = dims(); k-- > 0; rank /= ranks[k]) at[k] = rank % ranks[k];
    return at;
  }
  std::vector<int> cells(int rank) const {
    std::vector<int> own;
    const Coordinates at = position(rank);
    for (std::size_t k = 0; k < dims(); ++k)
      own.push_back(cuts[k][static_cast<std::size_t>(at[k])]);
    return own;
  }
  Coordinates points(int rank) const {
    Coordinates own;
    for (const int n : cells(rank)) own.push_back(n + (nodes ? 1 : 0));
    return own;
  }
  // Of a point of a rank's box, in the whole mesh; empty: beyond its border.
  Coordinates global(int rank, Coordinates at) const {
    const Coordinates here = position(rank);
    for (std::size_t k = 0; k < dims(); ++k) {
      at[k] += std::accumulate(cuts[k].begin(), cuts[k].begin() + here[k], std::int64_t{0});
      const auto all = std::accumulate(cuts[k].begin(), cuts[k].end(), std::int64_t{0});
      if (periodic[k])
        at[k] = (at[k] + all) % all;
      else if (at[k] < 0 || at[k] >= all + (nodes ? 1 : 0))
        return {};
    }
    return at;
  }
  // Calls use(at) for all points of a rank's box, and those up to `more` beyond it.
  template <class Use>
  void for_each(int rank, std::int64_t more, Use use) const {
    const Coordinates own = points(rank);
    Coordinates at(dims(), -more);
    for (;;) {
      use(at);
      std::size_t k = dims();
      while (k-- > 0 && ++at[k] == own[k] + more) at[k] = -more;
      if (k == static_cast<std::size_t>(-1)) return;
    }
  }
  std::map<Coordinates, std::vector<Place>> places() const {
    std::map<Coordinates, std::vector<Place>> all;
    for (int r = 0; r < world_size(); ++r) {
      std::int64_t place = 0;
      for_each(r, 0, [&](const Coordinates& at) { all[global(r, at)].push_back({r, place++}); });
    }
    return all;
  }

  MPI_Comm cart() const {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(dims()), ranks.data(), periodic.data(), 0,
                    &made);
    return made;
  }
  tonari_vector make(const std::string& route = "direct") const {
    MPI_Comm made = cart();
    const std::vector<int> own = cells(world_rank());
    const Info info{{"tonari_route", route}, {"tonari_tune", "off"}};
    tonari_vector vector = TONARI_VECTOR_NULL;
    must(nodes ? tonari_vector_create_box_nodes(made, own.data(), info, &vector)
               : tonari_vector_create_box_cells(made, own.data(), width, along, info, &vector));
    MPI_Comm_free(&made);
    return vector;
  }
};

struct BoxCase {
  Mesh mesh;
  Links links;
  tonari_vector make(const std::string& route) const { return mesh.make(route); }
};

// Factors of the number of ranks, dealt to dimensions.
std::vector<int> draw_ranks(Random& random, std::size_t dims) {
  std::vector<int> ranks(dims, 1);
  for (int left = world_size(), f = 2; left > 1;)
    if (left % f == 0)
      ranks[static_cast<std::size_t>(pick(random, 0, static_cast<int>(dims) - 1))] *= f, left /= f;
    else
      ++f;
  return ranks;
}

Mesh draw_mesh(Random& random, bool nodes) {
  Mesh mesh;
  mesh.nodes = nodes;
  const auto dims = static_cast<std::size_t>(pick(random, 1, 4));
  mesh.ranks = draw_ranks(random, dims);
  mesh.width = pick(random, 1, 2), mesh.along = pick(random, 0, static_cast<int>(dims));
  for (std::size_t k = 0; k < dims; ++k) {
    mesh.periodic.push_back(pick(random, 0, 1));
    const bool alone = mesh.ranks[k] == 1 && !mesh.periodic[k];
    std::vector<int>& cuts = mesh.cuts.emplace_back();
    for (int i = 0; i < mesh.ranks[k]; ++i)
      cuts.push_back(pick(random, nodes || alone ? 1 : mesh.width, dims > 3 ? 2 : 4));
  }
  return mesh;
}

BoxCase draw_nodes(Random& random) {
  BoxCase drawn{draw_mesh(random, true), {}};
  Links& links = drawn.links;
  links.arrays = ArrayKind::one;
  for (int r = 0; r < world_size(); ++r) {
    const Coordinates own = drawn.mesh.points(r);
    links.owned_length.push_back(
        std::accumulate(own.begin(), own.end(), std::int64_t{1}, std::multiplies<>()));
  }
  links.ghost_length.assign(links.owned_length.size(), 0);
  for (const auto& [at, places] : drawn.mesh.places())
    for (const Place& place : places) {
      const Place& owner = *std::ranges::min_element(places);
      if (place == owner) continue;
      links.all.push_back({owner.rank, owner.place, place.rank, place.place});
      std::int64_t& length = links.ghost_length[static_cast<std::size_t>(place.rank)];
      length = std::max(length, place.place + 1);
    }
  return drawn;
}

// Where a ghost comes in the order of ghosts, but for its place in its part.
struct BoxPart {
  std::vector<std::size_t> dims;  // beyond the own cells
  std::vector<int> sides;
  BoxPart(const Coordinates& at, const Coordinates& own) {
    for (std::size_t k = 0; k < at.size(); ++k)
      if (at[k] < 0 || at[k] >= own[k]) dims.push_back(k), sides.push_back(at[k] < 0 ? 0 : 1);
  }
  auto key() const { return std::tuple(dims.size(), dims, sides); }
};

BoxCase draw_cells(Random& random) {
  BoxCase drawn{draw_mesh(random, false), {}};
  const Mesh& mesh = drawn.mesh;
  const auto places = mesh.places();
  for (int r = 0; r < world_size(); ++r) {
    const Coordinates own = mesh.points(r);
    std::vector<std::pair<BoxPart, Place>> ghosts;
    mesh.for_each(r, mesh.width, [&](const Coordinates& at) {
      const BoxPart part(at, own);
      const Coordinates there = mesh.global(r, at);
      const auto most = mesh.along ? static_cast<std::size_t>(mesh.along) : mesh.dims();
      if (part.dims.empty() || part.dims.size() > most || there.empty()) return;
      ghosts.emplace_back(part, places.at(there)[0]);
    });
    std::ranges::stable_sort(ghosts, {}, [](const auto& ghost) { return ghost.first.key(); });
    for (std::size_t k = 0; k < ghosts.size(); ++k)
      drawn.links.all.push_back(
          {ghosts[k].second.rank, ghosts[k].second.place, r, static_cast<std::int64_t>(k)});
    drawn.links.owned_length.push_back(
        std::accumulate(own.begin(), own.end(), std::int64_t{1}, std::multiplies<>()));
    drawn.links.ghost_length.push_back(static_cast<std::int64_t>(ghosts.size()));
  }
  return drawn;
}

// A cube of boxes of n^3 cells, as near to one as the number of ranks allows.
Mesh cube(int n, bool nodes) {
  Mesh mesh;
  mesh.ranks.assign(3, 0), mesh.periodic.assign(3, 0), mesh.nodes = nodes;
  MPI_Dims_create(world_size(), 3, mesh.ranks.data());
  for (const int ranks : mesh.ranks) mesh.cuts.emplace_back(static_cast<std::size_t>(ranks), n);
  return mesh;
}

class VectorBoxes : public VectorTest {};

TEST_F(VectorBoxes, NodesAreShared) { expect_random_cases(draw_nodes, 2); }

TEST_F(VectorBoxes, GhostsAreCellsOfOtherBoxes) { expect_random_cases(draw_cells, 2); }

// Sums that are rounded: the owner's value, then the others in the order of ranks.
TEST_F(VectorBoxes, SumsOfNodesHaveTheSameBitsEverywhere) {
  const Mesh mesh = cube(2, true);
  tonari_vector vector = mesh.make();
  const auto value = [](const Place& at) {
    return 1.0 / (3.0 + 7.0 * at.rank + 0.01 * static_cast<double>(at.place));
  };
  std::vector<double> x(27), wanted(27);
  for (std::int64_t i = 0; i < 27; ++i) x[static_cast<std::size_t>(i)] = value({world_rank(), i});
  for (const auto& [at, places] : mesh.places()) {
    double sum = value(places[0]);
    for (std::size_t k = 1; k < places.size(); ++k) sum += value(places[k]);
    for (const Place& place : places)
      if (place.rank == world_rank()) wanted[static_cast<std::size_t>(place.place)] = sum;
  }
  std::vector<double> once = x, moved = x, more = x;
  must(tonari_vector_reverse(vector, nullptr, MPI_SUM, x.data(), x.data()));
  must(tonari_vector_forward(vector, nullptr, x.data(), x.data()));
  EXPECT_EQ(x, wanted);
  must(tonari_vector_combine(vector, nullptr, MPI_SUM, once.data(), once.data()));
  EXPECT_EQ(once, wanted);
  tonari_request request = TONARI_REQUEST_NULL;
  must(tonari_vector_combine_init(vector, nullptr, MPI_SUM, more.data(), more.data(),
                                  Info{{"tonari_tune", "off"}}, &request));
  must(tonari_vector_free(&vector));
  must(tonari_start(request)), must(tonari_wait(request));
  EXPECT_EQ(more, wanted);
  must(tonari_start_with(request, moved.data(), moved.data())), must(tonari_wait(request));
  EXPECT_EQ(moved, wanted);
  EXPECT_CONTAINS(tonari_request_describe(request), "combining exchange of a vector");
  must(tonari_request_free(&request));
}

// One plane of ghosts after the other, as codes with six neighbors have them behind their elements.
TEST_F(VectorBoxes, GhostPlanesLieBehindTheElements) {
  const Mesh mesh = cube(2, false);
  const Coordinates here = mesh.position(world_rank());
  MPI_Comm cart = mesh.cart();
  const std::vector<int> cells = mesh.cells(world_rank());
  const auto vector = tonari::DistributedVector::box_cells(cart, cells, 1, 1);
  std::vector<int> x(8 + 6 * 4, -1), wanted;
  for (int i = 0; i < 8; ++i) x[static_cast<std::size_t>(i)] = 10 * world_rank() + i;
  wanted.assign(x.begin(), x.begin() + 8);
  const int first[3][2][4] = {{{4, 5, 6, 7}, {0, 1, 2, 3}},  // of the plane below, and above
                              {{2, 3, 6, 7}, {0, 1, 4, 5}},
                              {{1, 3, 5, 7}, {0, 2, 4, 6}}};
  for (std::size_t k = 0; k < 3; ++k)
    for (const int side : {0, 1}) {
      int neighbor = MPI_PROC_NULL, other = MPI_PROC_NULL;
      MPI_Cart_shift(cart, static_cast<int>(k), side ? -1 : 1, &neighbor, &other);
      if (neighbor == MPI_PROC_NULL) continue;
      for (const int i : first[k][side]) wanted.push_back(10 * neighbor + i);
    }
  wanted.resize(x.size(), -1);
  vector.forward(std::span<const int>(x).first(8), std::span(x).subspan(8));
  EXPECT_EQ(x, wanted);
  std::int64_t faces = 0;
  for (std::size_t k = 0; k < 3; ++k) faces += (here[k] > 0) + (here[k] + 1 < mesh.ranks[k]);
  EXPECT_EQ(vector.owned(), 8);
  EXPECT_EQ(vector.needed(), 4 * faces);
  EXPECT_EQ(vector.facts().sources, faces);
  MPI_Comm_free(&cart);
}

TEST_F(VectorBoxes, InCppNodesAreSpansToo) {
  const Mesh mesh = cube(1, true);
  MPI_Comm cart = mesh.cart();
  const auto nodes = tonari::DistributedVector::box_nodes(cart, mesh.cells(world_rank()));
  EXPECT_EQ(nodes.owned(), 8);
  std::vector<double> ones(8, 1), again = ones, boxes(8);
  for (const auto& [at, places] : mesh.places())
    for (const Place& place : places)
      if (place.rank == world_rank())
        boxes[static_cast<std::size_t>(place.place)] = static_cast<double>(places.size());
  const tonari::VectorField field(std::span{ones});
  tonari::Request sum =
      nodes.combine_init(MPI_SUM, std::span(&field, 1), Info{{"tonari_tune", "off"}});
  sum.start(), sum.wait();
  EXPECT_EQ(ones, boxes);
  nodes.combine(MPI_SUM, std::span(again), std::span(again));
  EXPECT_EQ(again, boxes);
  std::ranges::fill(ones, 1);
  nodes.combine(MPI_SUM, std::span(&field, 1));
  EXPECT_EQ(ones, boxes);
  tonari::Request most = nodes.combine_init(MPI_MAX, std::span(again), std::span(again), {},
                                            Info{{"tonari_tune", "off"}});
  again.assign(8, world_rank());
  most.start(), most.wait();
  for (const auto& [at, places] : mesh.places())
    for (const Place& place : places)
      if (place.rank == world_rank()) {
        EXPECT_EQ(again[static_cast<std::size_t>(place.place)],
                  std::ranges::max_element(places)->rank);
      }
  const std::vector<int> two(world_rank() == world_size() - 1 ? 2 : 3, 1);
  try {
    (void)tonari::DistributedVector::box_cells(cart, two);
    ADD_FAILURE() << "no failure";
  } catch (const tonari::Failure& failure) {
    EXPECT_EQ(failure.code(), TONARI_ERR_ARGUMENT);
    EXPECT_CONTAINS(failure.what(), "2 numbers of cells, but 3 dimensions");
    if (world_size() > 1) {
      EXPECT_CONTAINS(failure.what(), "rank " + std::to_string(world_size() - 1) + ": ");
    }
  }
  MPI_Comm_free(&cart);
}

}  // namespace
