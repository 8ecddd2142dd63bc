// SPDX-License-Identifier: BSD-3-Clause
// Vectors whose counts and places are MPI_Count and MPI_Aint: they are those made with int, also
// where ranks mix both kinds; and places may lie beyond 2^31.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <tonari/vector.hpp>

#include <cstdint>
#include <functional>
#include <vector>

#include "support/mpi_main.hpp"
#include "support/ok.hpp"

namespace {

using namespace tonari::test;

using Ints = std::vector<int>;
using LargeList = std::vector<MPI_Count>;
using FarPlaces = std::vector<MPI_Aint>;

template <class To>
To widened(const Ints& from) {
  return {from.begin(), from.end()};
}

class LargePlaces : public testing::Test {
 protected:
  // Makes a vector with int and one of which some ranks make it with MPI_Count and MPI_Aint; their
  // forward exchanges must bring the same.
  using Create = std::function<int(bool large, tonari_vector* vector)>;
  void expect_the_same(const Create& create) {
    std::vector<double> filled[2];
    for (const bool mixed : {false, true}) {
      tonari_vector vector = TONARI_VECTOR_NULL;
      ASSERT_OK(create(mixed && rank % 2 == 0, &vector));
      tonari_vector_facts facts;
      EXPECT_OK(tonari_vector_get_facts(vector, &facts));
      std::vector<double> owned(static_cast<std::size_t>(facts.owned_length));
      for (std::size_t k = 0; k < owned.size(); ++k)
        owned[k] = 1000.0 * rank + static_cast<double>(k);
      filled[mixed].assign(static_cast<std::size_t>(facts.ghost_length), -1);
      EXPECT_OK(tonari_vector_forward(vector, nullptr, owned.data(), filled[mixed].data()));
      EXPECT_OK(tonari_vector_free(&vector));
    }
    EXPECT_EQ(filled[0], filled[1]);
    EXPECT_FALSE(filled[0].empty());
    for (const double value : filled[0]) came += value >= 0;
  }
  void TearDown() override { EXPECT_GT(came, 0); }

  int rank = world_rank(), ranks = world_size(), came = 0;
  int before() const { return (rank + ranks - 1) % ranks; }
  int after() const { return (rank + 1) % ranks; }
};

TEST_F(LargePlaces, ListsOfNeighbors) {
  const Ints to{after(), before()}, from{before(), after()}, sent{2, 3}, received{2, 3},
      send{7, 1, 0, 4, 2}, places{9, 0, 3, 1, 5};
  const auto counts = widened<LargeList>(sent), expected = widened<LargeList>(received);
  const auto at = widened<FarPlaces>(send), into = widened<FarPlaces>(places);
  expect_the_same([&](bool large, tonari_vector* vector) {
    return large ? tonari_vector_create_from_neighbors_c(
                       MPI_COMM_WORLD, 8, 2, to.data(), counts.data(), at.data(), 2, from.data(),
                       expected.data(), into.data(), MPI_INFO_NULL, vector)
                 : tonari_vector_create_from_neighbors(MPI_COMM_WORLD, 8, 2, to.data(), sent.data(),
                                                       send.data(), 2, from.data(), received.data(),
                                                       places.data(), MPI_INFO_NULL, vector);
  });
}

TEST_F(LargePlaces, Ids) {
  const std::vector<std::int64_t> own{100 * rank + 5, 100 * rank + 1},
      need{100 * after() + 1, 100 * before() + 5, 100 * rank + 1};
  const Ints owned{3, 6}, ghosts{2, 0, 7};
  const auto at = widened<FarPlaces>(owned), into = widened<FarPlaces>(ghosts);
  expect_the_same([&](bool large, tonari_vector* vector) {
    return large ? tonari_vector_create_from_ids_c(MPI_COMM_WORLD, 2, own.data(), at.data(), 3,
                                                   need.data(), into.data(), MPI_INFO_NULL, vector)
                 : tonari_vector_create_from_ids(MPI_COMM_WORLD, 2, own.data(), owned.data(), 3,
                                                 need.data(), ghosts.data(), MPI_INFO_NULL, vector);
  });
}

TEST_F(LargePlaces, SharedIds) {
  const std::vector<std::int64_t> ids{rank, after() + 50, 1000};
  const Ints places{4, 0, 2};
  const auto at = widened<FarPlaces>(places);
  tonari_vector vector = TONARI_VECTOR_NULL;
  for (const bool large : {false, true}) {
    ASSERT_OK(large && rank % 2 == 0
                  ? tonari_vector_create_shared_c(MPI_COMM_WORLD, 3, ids.data(), at.data(),
                                                  MPI_INFO_NULL, &vector)
                  : tonari_vector_create_shared(MPI_COMM_WORLD, 3, ids.data(), places.data(),
                                                MPI_INFO_NULL, &vector));
    std::vector<double> x{1.0 * rank, -1, 10.0 + rank, -1, 100};
    EXPECT_OK(tonari_vector_combine(vector, nullptr, MPI_SUM, x.data(), x.data()));
    EXPECT_EQ(x[2], 10.0 * ranks + ranks * (ranks - 1) / 2.0);
    EXPECT_EQ(x[4], 100);
    EXPECT_OK(tonari_vector_free(&vector));
  }
  came = 1;
}

TEST_F(LargePlaces, Boxes) {
  MPI_Comm cart;
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &cart);
  const Ints cells{5};
  const auto large_cells = widened<LargeList>(cells);
  expect_the_same([&](bool large, tonari_vector* vector) {
    return large ? tonari_vector_create_box_cells_c(cart, large_cells.data(), 2, 0, MPI_INFO_NULL,
                                                    vector)
                 : tonari_vector_create_box_cells(cart, cells.data(), 2, 0, MPI_INFO_NULL, vector);
  });
  for (const bool large : {false, true}) {
    tonari_vector vector = TONARI_VECTOR_NULL;
    ASSERT_OK(
        large && rank % 2 == 0
            ? tonari_vector_create_box_nodes_c(cart, large_cells.data(), MPI_INFO_NULL, &vector)
            : tonari_vector_create_box_nodes(cart, cells.data(), MPI_INFO_NULL, &vector));
    std::vector<double> x(6, 1.0 + rank);
    EXPECT_OK(tonari_vector_combine(vector, nullptr, MPI_SUM, x.data(), x.data()));
    EXPECT_EQ(x[0], 2.0 + rank + before());
    EXPECT_EQ(x[5], 2.0 + rank + after());
    EXPECT_EQ(x[2], 1.0 + rank);
    EXPECT_OK(tonari_vector_free(&vector));
  }
  MPI_Comm_free(&cart);
}

// FarPlaces of either width, or both, in C++.
TEST_F(LargePlaces, InCpp) {
  const std::vector<std::int64_t> own{2 * rank, 2 * rank + 1}, need{2 * after(), 2 * before() + 1};
  const Ints at{4, 1}, into{2, 0};
  const auto wide_at = widened<FarPlaces>(at), wide_into = widened<FarPlaces>(into);
  const std::vector<double> x{-1, rank + 0.5, -1, -1, rank + 0.25};
  const std::vector<double> want{before() + 0.5, -1, after() + 0.25};
  const auto expect = [&](const tonari::DistributedVector& vector) {
    std::vector<double> ghosts(3, -1);
    vector.forward(x, ghosts);
    EXPECT_EQ(ghosts, want);
    ++came;
  };
  expect(tonari::DistributedVector::from_ids(MPI_COMM_WORLD, own, need, at, into));
  expect(tonari::DistributedVector::from_ids(MPI_COMM_WORLD, own, need, wide_at, wide_into));
  expect(tonari::DistributedVector::from_ids(MPI_COMM_WORLD, own, need, at, wide_into));
  const Ints next{after(), before()}, last{before(), after()}, ones{1, 1};
  const LargeList wide_ones{1, 1};
  const Ints from{1, 4}, to{0, 2};
  const auto wide_from = widened<FarPlaces>(from), wide_to = widened<FarPlaces>(to);
  using tonari::DistributedVector;
  expect(
      DistributedVector::from_neighbors(MPI_COMM_WORLD, 5, {next, ones, from}, {last, ones, to}));
  expect(DistributedVector::from_neighbors(MPI_COMM_WORLD, 5, {next, wide_ones, wide_from},
                                           {last, wide_ones, wide_to}));
  expect(DistributedVector::from_neighbors(MPI_COMM_WORLD, 5, {next, ones, wide_from},
                                           {last, wide_ones, to}));
  const std::vector<std::int64_t> shared{7};
  for (const auto& vector : {DistributedVector::shared(MPI_COMM_WORLD, shared, Ints{2}),
                             DistributedVector::shared(MPI_COMM_WORLD, shared, FarPlaces{2})}) {
    std::vector<double> y{0, 0, 1.0 + rank};
    vector.combine(MPI_SUM, y, y);
    EXPECT_EQ(y[2], ranks * (ranks + 1) / 2.0);
  }
}

// Only pages that are touched take memory.
TEST_F(LargePlaces, BeyondTwoToThe31) {
  constexpr MPI_Aint far = (MPI_Aint{1} << 31) + 12345;
  constexpr std::size_t length = static_cast<std::size_t>(far) + 10;
  const auto untouched = [] {
    return ::mmap(nullptr, length, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  };
  void *const from = untouched(), *const to = untouched();
  ASSERT_NE(from, MAP_FAILED);
  ASSERT_NE(to, MAP_FAILED);
  auto* const owned = static_cast<char*>(from);
  auto* const ghosts = static_cast<char*>(to);
  const std::vector<std::int64_t> own{2 * rank, 2 * rank + 1}, need{2 * after(), 2 * before() + 1};
  const FarPlaces at{far, 3}, into{1, far + 4};
  tonari_vector vector = TONARI_VECTOR_NULL;
  ASSERT_OK(tonari_vector_create_from_ids_c(MPI_COMM_WORLD, 2, own.data(), at.data(), 2,
                                            need.data(), into.data(), MPI_INFO_NULL, &vector));
  tonari_vector_facts facts;
  EXPECT_OK(tonari_vector_get_facts(vector, &facts));
  EXPECT_EQ(facts.owned_length, far + 1);
  EXPECT_EQ(facts.ghost_length, far + 5);
  owned[far] = static_cast<char>(40 + rank), owned[3] = static_cast<char>(80 + rank);
  tonari_vector_values values = {};
  values.type = MPI_CHAR;
  EXPECT_OK(tonari_vector_forward(vector, &values, owned, ghosts));
  EXPECT_EQ(ghosts[1], 40 + after());
  EXPECT_EQ(ghosts[far + 4], 80 + before());
  came = 1;
  EXPECT_OK(tonari_vector_free(&vector));
  ::munmap(from, length), ::munmap(to, length);
}

TEST_F(LargePlaces, ANegativePlaceIsNamed) {
  came = 1;
  const std::vector<std::int64_t> own{rank};
  const FarPlaces at{rank == ranks - 1 ? -3'000'000'000 : 0};
  tonari_vector vector = TONARI_VECTOR_NULL;
  EXPECT_EQ(tonari_vector_create_shared_c(MPI_COMM_WORLD, 1, own.data(), at.data(), MPI_INFO_NULL,
                                          &vector),
            TONARI_ERR_ARGUMENT);
  EXPECT_SAID("`places`[0] is -3000000000");
}

}  // namespace
