// SPDX-License-Identifier: BSD-3-Clause
// A mesh whose nodes have numbers with gaps gets consecutive ones, and a matrix on them.
#include <gtest/gtest.h>
#include <tonari/spmv.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/mpi_main.hpp"
#include "support/ok.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

using Ids = std::vector<std::int64_t>;

// Node p of a ring has this number, far apart and in no order; rank r owns 3 + r of the nodes.
std::int64_t id_of(std::int64_t p) { return (p * 7919 % 1009) * 1'000'000'007 - 5'000'000'000; }

class Renumber : public testing::Test {
 protected:
  static std::int64_t begin_of(std::int64_t r) { return 3 * r + r * (r - 1) / 2; }
  Ids own() const {
    Ids ids;
    for (std::int64_t p = begin; p < end; ++p) ids.push_back(id_of(p));
    std::ranges::reverse(ids);
    return ids;
  }
  // Where a node is, once own ones are numbered in the order of own().
  std::int64_t index_of(std::int64_t p) const {
    std::int64_t r = 0;
    while (p >= begin_of(r + 1)) ++r;
    return begin_of(r) + begin_of(r + 1) - 1 - p;
  }

  int rank = world_rank(), ranks = world_size();
  std::int64_t begin = begin_of(rank), end = begin_of(rank + 1), all = begin_of(ranks);
};

TEST_F(Renumber, OwnAndNeededNodes) {
  Ids needed, want;
  for (std::int64_t p = begin; p < end; ++p)
    for (const std::int64_t next : {(p + 1) % all, (p + all - 1) % all, p})
      needed.push_back(id_of(next)), want.push_back(index_of(next));
  const tonari::Renumbering found = tonari::renumber(MPI_COMM_WORLD, own(), needed);
  EXPECT_EQ(found.first, begin);
  EXPECT_EQ(found.indices, want);
}

// The matrix of the ring, by ids: y = 2 x - left - right, with x the numbers along the ring.
TEST_F(Renumber, AMatrixOnTheNewNumbers) {
  Ids columns, row_begin{0};
  std::vector<double> values, x, want;
  for (std::int64_t p = end - 1; p >= begin; --p) {
    for (const std::int64_t next : {p, (p + 1) % all, (p + all - 1) % all})
      columns.push_back(id_of(next)), values.push_back(next == p ? 2 : -1);
    row_begin.push_back(static_cast<std::int64_t>(columns.size()));
    x.push_back(static_cast<double>(p));
    const auto at = [&](std::int64_t q) { return static_cast<double>((q + all) % all); };
    want.push_back(2 * at(p) - at(p + 1) - at(p - 1));
  }
  if (all < 3) GTEST_SKIP();
  const tonari::Renumbering found = tonari::renumber(MPI_COMM_WORLD, own(), columns);
  tonari::RowParallel matrix(MPI_COMM_WORLD, found.first, end - begin, row_begin, found.indices,
                             values);
  std::vector<double> y(x.size());
  matrix.multiply(x, y);
  EXPECT_EQ(y, want);
}

TEST_F(Renumber, WrongIdsFailEverywhere) {
  const bool errs = rank == ranks - 1;
  Ids mine = own(), needed{id_of(0)};
  std::int64_t first = -7, index = -7;
  const auto call = [&] {
    return tonari_vector_renumber(MPI_COMM_WORLD, static_cast<std::int64_t>(mine.size()),
                                  mine.data(), 1, needed.data(), &first, &index);
  };
  if (errs) needed[0] = 12;
  expect_everywhere(call(), TONARI_ERR_ARGUMENT, {"needs id 12", "nobody owns it"});
  needed[0] = id_of(0);
  if (errs) mine[1] = mine[0];
  expect_everywhere(call(), TONARI_ERR_ARGUMENT, {"is twice"});
  mine = own();
  EXPECT_EQ(first, -7);
  EXPECT_EQ(index, -7);
  expect_everywhere(
      tonari_vector_renumber(MPI_COMM_WORLD, static_cast<std::int64_t>(mine.size()), mine.data(), 1,
                             needed.data(), errs ? nullptr : &first, &index),
      TONARI_ERR_ARGUMENT, {"`first` is NULL"});
  expect_everywhere(
      tonari_vector_renumber(MPI_COMM_WORLD, static_cast<std::int64_t>(mine.size()), mine.data(), 1,
                             needed.data(), &first, errs ? nullptr : &index),
      TONARI_ERR_ARGUMENT, {"`indices` is NULL"});
  EXPECT_OK(call());
}

}  // namespace
