// SPDX-License-Identifier: BSD-3-Clause
// Star forests of type tonari bring what those of type basic bring.
#include <gtest/gtest.h>
#include <petscsf.h>
#include <tonari/petsc.h>

#include <algorithm>
#include <complex>
#include <numeric>
#include <vector>

#include "petsc/forest.hpp"

namespace tonari::test {
namespace {

constexpr int uses = 6;  // from the third one on by tonari

struct Forests {
  explicit Forests(const Graph& graph) {
    PetscOptionsSetValue(nullptr, "-sf_tonari_race", "0");
    make_forest(graph, "basic", &basic);
    make_forest(graph, "tonari", &tonari);
  }
  ~Forests() {
    PetscSFDestroy(&basic);
    PetscSFDestroy(&tonari);
    PetscOptionsClearValue(nullptr, "-sf_tonari_race");
  }
  PetscSF basic = nullptr, tonari = nullptr;
};

// Of several leaves that replace a root, any may be the last: that of this rank, or one that basic
// receives meanwhile.
template <class T>
void forget_repeated(const Forests& forests, const Graph& graph, std::size_t width,
                     std::vector<T>& found, std::vector<T>& wanted) {
  const PetscInt* degree = nullptr;
  PETSC_OK(PetscSFComputeDegreeBegin(forests.basic, &degree));
  PETSC_OK(PetscSFComputeDegreeEnd(forests.basic, &degree));
  for (std::size_t k = 0; k < static_cast<std::size_t>(graph.roots) * width; ++k)
    if (degree[k / width] > 1) found[k] = wanted[k] = T{};
}

class RandomForests : public testing::TestWithParam<GraphKind> {
 protected:
  template <class T>
  void expect_same(MPI_Datatype unit, std::size_t width, MPI_Op op);
  template <class T>
  void bcast(const Forests& forests, const Graph& graph, MPI_Datatype unit, std::size_t width,
             MPI_Op op, int use);
  template <class T>
  void reduce(const Forests& forests, const Graph& graph, MPI_Datatype unit, std::size_t width,
              MPI_Op op, int use);
};

template <class T>
void RandomForests::bcast(const Forests& forests, const Graph& graph, MPI_Datatype unit,
                          std::size_t width, MPI_Op op, int use) {
  const std::vector<T> roots = numbers<T>(static_cast<std::size_t>(graph.roots) * width, use);
  std::vector<T> wanted = numbers<T>(leaf_length(graph) * width, use + 50), found = wanted;
  PETSC_OK(PetscSFBcastBegin(forests.basic, unit, roots.data(), wanted.data(), op));
  PETSC_OK(PetscSFBcastEnd(forests.basic, unit, roots.data(), wanted.data(), op));
  PETSC_OK(PetscSFBcastBegin(forests.tonari, unit, roots.data(), found.data(), op));
  PETSC_OK(PetscSFBcastEnd(forests.tonari, unit, roots.data(), found.data(), op));
  EXPECT_EQ(found, wanted) << "broadcast " << use;
}

template <class T>
void RandomForests::reduce(const Forests& forests, const Graph& graph, MPI_Datatype unit,
                           std::size_t width, MPI_Op op, int use) {
  const std::vector<T> leaves = numbers<T>(leaf_length(graph) * width, use);
  std::vector<T> wanted = numbers<T>(static_cast<std::size_t>(graph.roots) * width, use + 50);
  std::vector<T> found = wanted;
  PETSC_OK(PetscSFReduceBegin(forests.basic, unit, leaves.data(), wanted.data(), op));
  PETSC_OK(PetscSFReduceEnd(forests.basic, unit, leaves.data(), wanted.data(), op));
  PETSC_OK(PetscSFReduceBegin(forests.tonari, unit, leaves.data(), found.data(), op));
  PETSC_OK(PetscSFReduceEnd(forests.tonari, unit, leaves.data(), found.data(), op));
  if (op == MPI_REPLACE) forget_repeated(forests, graph, width, found, wanted);
  EXPECT_EQ(found, wanted) << "reduction " << use;
}

template <class T>
void RandomForests::expect_same(MPI_Datatype unit, std::size_t width, MPI_Op op) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Graph graph = make_graph(GetParam(), seed);
    const Forests forests(graph);
    for (int use = 0; use < uses; ++use) {
      bcast<T>(forests, graph, unit, width, op, use);
      reduce<T>(forests, graph, unit, width, op, use);
    }
  }
}

TEST_P(RandomForests, CopyAsBasicDoes) {
  expect_same<double>(MPI_DOUBLE, 1, MPI_REPLACE);
  expect_same<int>(MPI_INT, 1, MPI_REPLACE);
  expect_same<signed char>(MPI_SIGNED_CHAR, 1, MPI_REPLACE);
}

TEST_P(RandomForests, CombineAsBasicDoes) {
  for (const MPI_Op op : {MPI_SUM, MPI_MIN, MPI_MAX}) {
    expect_same<double>(MPI_DOUBLE, 1, op);
    expect_same<PetscInt>(MPIU_INT, 1, op);
  }
  expect_same<PetscScalar>(MPIU_SCALAR, 1, MPI_SUM);
}

TEST_P(RandomForests, ExchangeBlocks) {
  MPI_Datatype block = MPI_DATATYPE_NULL, pairs = MPI_DATATYPE_NULL;  // of which basic sums one
  MPI_Type_contiguous(3, MPIU_SCALAR, &block);
  MPI_Type_commit(&block);
  MPI_Type_contiguous(2, block, &pairs);
  MPI_Type_commit(&pairs);
  expect_same<PetscScalar>(block, 3, MPI_REPLACE);
  expect_same<PetscScalar>(block, 3, MPI_SUM);
  expect_same<PetscScalar>(pairs, 6, MPI_REPLACE);
  MPI_Type_free(&pairs);
  MPI_Type_free(&block);
}

// Operations and units that tonari does not have.
TEST_P(RandomForests, PassOnWhatTonariHasNot) {
  expect_same<int>(MPI_INT, 1, MPI_PROD);
  expect_same<int>(MPI_INT, 1, MPI_BOR);
  expect_same<PetscInt>(MPIU_2INT, 2, MPI_MAXLOC);
}

TEST_P(RandomForests, GatherScatterAndFetch) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const Graph graph = make_graph(GetParam(), seed);
    const Forests forests(graph);
    const PetscInt *degree = nullptr, *same_degree = nullptr;
    PETSC_OK(PetscSFComputeDegreeBegin(forests.basic, &degree));
    PETSC_OK(PetscSFComputeDegreeEnd(forests.basic, &degree));
    PETSC_OK(PetscSFComputeDegreeBegin(forests.tonari, &same_degree));
    PETSC_OK(PetscSFComputeDegreeEnd(forests.tonari, &same_degree));
    ASSERT_TRUE(std::equal(degree, degree + graph.roots, same_degree));
    const auto all = static_cast<std::size_t>(std::accumulate(degree, degree + graph.roots, 0));
    for (int use = 0; use < uses; ++use) {
      std::vector<double> leaves = numbers<double>(leaf_length(graph), use);
      std::vector<double> wanted(all, -1), found(all, -1);
      PETSC_OK(PetscSFGatherBegin(forests.basic, MPI_DOUBLE, leaves.data(), wanted.data()));
      PETSC_OK(PetscSFGatherEnd(forests.basic, MPI_DOUBLE, leaves.data(), wanted.data()));
      PETSC_OK(PetscSFGatherBegin(forests.tonari, MPI_DOUBLE, leaves.data(), found.data()));
      PETSC_OK(PetscSFGatherEnd(forests.tonari, MPI_DOUBLE, leaves.data(), found.data()));
      EXPECT_EQ(found, wanted);
      std::vector<double> back(leaves.size(), -1), same_back = back;
      PETSC_OK(PetscSFScatterBegin(forests.basic, MPI_DOUBLE, wanted.data(), back.data()));
      PETSC_OK(PetscSFScatterEnd(forests.basic, MPI_DOUBLE, wanted.data(), back.data()));
      PETSC_OK(PetscSFScatterBegin(forests.tonari, MPI_DOUBLE, wanted.data(), same_back.data()));
      PETSC_OK(PetscSFScatterEnd(forests.tonari, MPI_DOUBLE, wanted.data(), same_back.data()));
      EXPECT_EQ(same_back, back);
      std::vector<int> root(static_cast<std::size_t>(graph.roots), 3), ones(leaves.size(), 1);
      std::vector<int> got(leaves.size(), -1);
      PETSC_OK(PetscSFFetchAndOpBegin(forests.tonari, MPI_INT, root.data(), ones.data(), got.data(),
                                      MPI_SUM));
      PETSC_OK(PetscSFFetchAndOpEnd(forests.tonari, MPI_INT, root.data(), ones.data(), got.data(),
                                    MPI_SUM));
      for (PetscInt k = 0; k < graph.roots; ++k)
        EXPECT_EQ(root[static_cast<std::size_t>(k)], 3 + degree[k]);
    }
  }
}

// Up to six at once, ended in another order than begun.
TEST_P(RandomForests, SeveralUnderWay) {
  const Graph graph = make_graph(GetParam(), 5);
  const Forests forests(graph);
  for (int use = 0; use < uses; ++use) {
    constexpr std::size_t at_once = 6;
    std::vector<std::vector<double>> roots, wanted, found;
    for (std::size_t k = 0; k < at_once; ++k) {
      const int what = use * 10 + static_cast<int>(k);
      roots.push_back(numbers<double>(static_cast<std::size_t>(graph.roots) + 1, what));
      wanted.push_back(numbers<double>(leaf_length(graph) + 1, what + 7));
      found.push_back(wanted.back());
    }
    for (std::size_t k = 0; k < at_once; ++k) {
      PETSC_OK(PetscSFBcastBegin(forests.basic, MPI_DOUBLE, roots[k].data(), wanted[k].data(),
                                 MPI_REPLACE));
      PETSC_OK(PetscSFBcastEnd(forests.basic, MPI_DOUBLE, roots[k].data(), wanted[k].data(),
                               MPI_REPLACE));
      PETSC_OK(PetscSFBcastBegin(forests.tonari, MPI_DOUBLE, roots[k].data(), found[k].data(),
                                 MPI_REPLACE));
    }
    for (const std::size_t k : {3, 0, 5, 1, 4, 2})
      PETSC_OK(PetscSFBcastEnd(forests.tonari, MPI_DOUBLE, roots[k].data(), found[k].data(),
                               MPI_REPLACE));
    EXPECT_EQ(found, wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, RandomForests,
    testing::Values(GraphKind{"some", 9, 12, false, false, false, true},
                    GraphKind{"many", 700, 900, false, false, false, true},
                    GraphKind{"neighbors", 300, 200, true, false, false, false},
                    GraphKind{"hub", 4, 20, false, true, false, true},
                    GraphKind{"empty", 30, 40, false, false, true, true}),
    [](const testing::TestParamInfo<GraphKind>& info) { return info.param.name; });

// A ring of ranks: each rank's leaves are the roots of the next one.
Graph ring(PetscInt roots) {
  Graph graph;
  graph.roots = roots;
  for (PetscInt k = 0; k < roots; ++k) {
    graph.leaves.push_back(k);
    graph.remote.push_back({(world_rank() + 1) % world_size(), k});
  }
  return graph;
}

TEST(Forest, ConnectsAtTheThirdUse) {
  PetscSF sf = nullptr;
  PETSC_OK(make_forest(ring(5), "tonari", &sf));
  std::vector<double> roots(5, world_rank()), leaves(5);
  const std::int64_t before = tonari_petsc_exchanges(), passed_on = tonari_petsc_passed_on();
  for (int use = 1; use <= 5; ++use) {
    PETSC_OK(PetscSFBcastBegin(sf, MPI_DOUBLE, roots.data(), leaves.data(), MPI_REPLACE));
    PETSC_OK(PetscSFBcastEnd(sf, MPI_DOUBLE, roots.data(), leaves.data(), MPI_REPLACE));
    const int by_tonari = world_size() == 1 ? 0 : std::max(0, use - 2);
    EXPECT_EQ(tonari_petsc_exchanges() - before, by_tonari) << "use " << use;
    EXPECT_EQ(tonari_petsc_passed_on() - passed_on, use - by_tonari) << "use " << use;
  }
  EXPECT_EQ(leaves, std::vector<double>(5, (world_rank() + 1) % world_size()));
  PETSC_OK(PetscSFDestroy(&sf));
}

// As DMDA has them: roots are the first half, and leaves all. Own ones are where they were.
TEST(Forest, RootsAndLeavesInOneArray) {
  Graph graph = ring(200);
  for (PetscInt k = 0; k < 200; ++k) {
    graph.leaves[static_cast<std::size_t>(k)] = 200 + k;
    graph.leaves.push_back(k);
    graph.remote.push_back({world_rank(), k});
  }
  const Forests forests(graph);
  for (int use = 0; use < uses; ++use) {
    std::vector<double> found = numbers<double>(400, use), wanted = found;
    const std::vector<double> roots = found;
    PETSC_OK(
        PetscSFBcastBegin(forests.basic, MPI_DOUBLE, roots.data(), wanted.data(), MPI_REPLACE));
    PETSC_OK(PetscSFBcastEnd(forests.basic, MPI_DOUBLE, roots.data(), wanted.data(), MPI_REPLACE));
    PETSC_OK(
        PetscSFBcastBegin(forests.tonari, MPI_DOUBLE, found.data(), found.data(), MPI_REPLACE));
    PETSC_OK(PetscSFBcastEnd(forests.tonari, MPI_DOUBLE, found.data(), found.data(), MPI_REPLACE));
    EXPECT_EQ(found, wanted);
  }
}

// An edge: of this rank's leaf, the root's rank and its place there.
struct Edge {
  PetscInt leaf;
  int rank;
  PetscInt root;
};

// Edges of this rank in an array of 4 * count places: to the next rank, to itself, and some that
// stay.
struct OneArray {
  const char* name;
  PetscInt (*root)(PetscInt k);
  PetscInt (*leaf)(PetscInt k);

  static constexpr PetscInt count = 60;
  std::vector<Edge> edges_of(int rank) const {
    std::vector<Edge> all;
    for (PetscInt k = 0; k < count; ++k)
      all.push_back({leaf(k), (rank + 1) % world_size(), root(k)});
    for (PetscInt k = 0; k < count / 4; ++k)
      all.push_back({2 * count + 10 + k, rank, 2 * count + 30 + k});
    for (PetscInt k = rank; k < count; ++k)
      if (k % 7 != 0) all.push_back({3 * count + k, rank, 3 * count + k});
    return all;
  }
};

class WithinOneArray : public testing::TestWithParam<OneArray> {
 protected:
  static constexpr std::size_t length = 4 * OneArray::count;

  void SetUp() override {
    if (world_size() == 1) GTEST_SKIP() << "basic does it";
    PetscOptionsSetValue(nullptr, "-sf_tonari_race", "0");
    PetscOptionsSetValue(nullptr, "-sf_tonari_connect", "1");
    Graph graph{.roots = static_cast<PetscInt>(length), .leaves = {}, .remote = {}};
    for (const Edge& edge : GetParam().edges_of(world_rank())) {
      graph.leaves.push_back(edge.leaf);
      graph.remote.push_back({edge.rank, edge.root});
    }
    ASSERT_EQ(static_cast<int>(make_forest(graph, "tonari", &sf_)), 0);
  }
  void TearDown() override {
    PetscSFDestroy(&sf_);
    PetscOptionsClearValue(nullptr, "-sf_tonari_race");
    PetscOptionsClearValue(nullptr, "-sf_tonari_connect");
  }

  static double value(int rank, PetscInt place, int what) {
    return (static_cast<int>(place) * 7 + rank * 31 + what * 13) % 101;
  }
  static std::vector<double> values(int what) {
    std::vector<double> all;
    for (std::size_t k = 0; k < length; ++k)
      all.push_back(value(world_rank(), static_cast<PetscInt>(k), what));
    return all;
  }
  // What arrives in `to` along the edges, of values(what) on all ranks.
  static std::vector<double> exchanged(bool bcast, int what, MPI_Op op, std::vector<double> to) {
    const auto arrive = [&](PetscInt at, double sent) {
      double& there = to[static_cast<std::size_t>(at)];
      there = op == MPI_SUM ? there + sent : sent;
    };
    for (int rank = 0; rank < world_size(); ++rank)
      for (const Edge& edge : GetParam().edges_of(rank)) {
        if (bcast && rank == world_rank())
          arrive(edge.leaf, value(edge.rank, edge.root, what));
        else if (!bcast && edge.rank == world_rank())
          arrive(edge.root, value(rank, edge.leaf, what));
      }
    return to;
  }
  void exchange(bool bcast, MPI_Op op, const std::vector<double>& from, std::vector<double>& to) {
    const std::int64_t before = tonari_petsc_exchanges();
    if (bcast) {
      PETSC_OK(PetscSFBcastBegin(sf_, MPI_DOUBLE, from.data(), to.data(), op));
      PETSC_OK(PetscSFBcastEnd(sf_, MPI_DOUBLE, from.data(), to.data(), op));
    } else {
      PETSC_OK(PetscSFReduceBegin(sf_, MPI_DOUBLE, from.data(), to.data(), op));
      PETSC_OK(PetscSFReduceEnd(sf_, MPI_DOUBLE, from.data(), to.data(), op));
    }
    EXPECT_EQ(tonari_petsc_exchanges() - before, 1);
  }

  PetscSF sf_ = nullptr;
};

// What is sent is what was there. Exchanges between two arrays are of the same kind.
TEST_P(WithinOneArray, SendsWhatWasThere) {
  for (int use = 0; use < uses; ++use)
    for (const bool bcast : {true, false})
      for (const MPI_Op op : {MPI_REPLACE, MPI_SUM}) {
        std::vector<double> both = values(use), from = values(use), to = values(use + 50);
        exchange(bcast, op, both, both);
        EXPECT_EQ(both, exchanged(bcast, use, op, values(use))) << bcast << ", use " << use;
        exchange(bcast, op, from, to);
        EXPECT_EQ(to, exchanged(bcast, use, op, values(use + 50))) << bcast << ", use " << use;
        EXPECT_EQ(from, values(use));
      }
}

INSTANTIATE_TEST_SUITE_P(Places, WithinOneArray,
                         testing::Values(OneArray{"apart", [](PetscInt k) { return k; },
                                                  [](PetscInt k) { return OneArray::count + k; }},
                                         OneArray{"inBetween", [](PetscInt k) { return 2 * k; },
                                                  [](PetscInt k) { return 2 * k + 1; }},
                                         OneArray{"meeting", [](PetscInt k) { return k; },
                                                  [](PetscInt k) { return k + 7; }}),
                         [](const testing::TestParamInfo<OneArray>& info) {
                           return info.param.name;
                         });

// Both take their turns, and a decision is the same on all ranks.
TEST(Forest, RacesAgainstBasic) {
  PetscSF sf = nullptr;
  PETSC_OK(make_forest(ring(50), "tonari", &sf));
  std::vector<double> roots(50), leaves(50);
  const std::int64_t before = tonari_petsc_exchanges();
  for (int use = 0; use < 600; ++use) {
    roots.assign(50, 1000 * use + world_rank());
    PETSC_OK(PetscSFBcastBegin(sf, MPI_DOUBLE, roots.data(), leaves.data(), MPI_REPLACE));
    PETSC_OK(PetscSFBcastEnd(sf, MPI_DOUBLE, roots.data(), leaves.data(), MPI_REPLACE));
    ASSERT_EQ(leaves[49], 1000 * use + (world_rank() + 1) % world_size());
  }
  std::int64_t here = tonari_petsc_exchanges() - before, least = 0, most = 0;
  MPI_Allreduce(&here, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&here, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(least, most);
  PETSC_OK(PetscSFDestroy(&sf));
  if (world_size() == 1) return;
  EXPECT_GE(here, 4 + 12);
  EXPECT_LE(here, 598 - 12) << "basic has not run";
}

TEST(Forest, TakesAnotherGraph) {
  PetscSF sf = nullptr;
  PETSC_OK(make_forest(ring(5), "tonari", &sf));
  for (const PetscInt size : {5, 11, 3}) {
    Graph graph = ring(size);
    PETSC_OK(PetscSFSetGraph(sf, graph.roots, size, graph.leaves.data(), PETSC_COPY_VALUES,
                             graph.remote.data(), PETSC_COPY_VALUES));
    for (int use = 0; use < uses; ++use) {
      std::vector<int> roots(static_cast<std::size_t>(size), 10 * use + world_rank());
      std::vector<int> leaves(roots.size());
      PETSC_OK(PetscSFBcastBegin(sf, MPI_INT, roots.data(), leaves.data(), MPI_REPLACE));
      PETSC_OK(PetscSFBcastEnd(sf, MPI_INT, roots.data(), leaves.data(), MPI_REPLACE));
      EXPECT_EQ(leaves,
                std::vector<int>(roots.size(), 10 * use + (world_rank() + 1) % world_size()));
    }
  }
  PETSC_OK(PetscSFSetType(sf, "basic"));
  PETSC_OK(PetscSFDestroy(&sf));
}

}  // namespace
}  // namespace tonari::test
