// SPDX-License-Identifier: BSD-3-Clause
// The C++ face: spans, owners and exceptions; and products of sparse matrices with vectors, by rows
// and by columns.
#include <tonari/spmv.hpp>

#include "support/contains.hpp"
#include "vector/vectors.hpp"

namespace {

using namespace tonari::test;
using Integers = std::vector<std::int64_t>;

template <class F>
void expect_failure(int code, std::initializer_list<std::string> words, F f) {
  try {
    f();
    ADD_FAILURE() << "no failure";
  } catch (const tonari::Failure& failure) {
    EXPECT_EQ(failure.code(), code);
    for (const std::string& word : words) EXPECT_CONTAINS(failure.what(), word);
  }
}

TEST(VectorCpp, SpansAndOwners) {
  Random common(2);
  const Sharing s = draw_sharing(common, Needs::random);
  tonari::DistributedVector none,
      vector(MPI_COMM_WORLD, s.mine().first, s.mine().count, s.my_needs());
  EXPECT_EQ(vector.owned(), s.mine().count);
  EXPECT_EQ(vector.needed(), static_cast<std::int64_t>(s.my_needs().size()));
  EXPECT_EQ(std::string(vector.facts().route), "direct");
  none = std::move(vector);
  vector = std::move(none);
  std::vector<float> x(static_cast<std::size_t>(2 * s.mine().count)),
      ghosts(2 * s.my_needs().size());
  for (std::int64_t i = 0; i < 2 * s.mine().count; ++i)
    x[static_cast<std::size_t>(i)] = static_cast<float>(2 * s.mine().first + i);
  tonari::ValueLayout pairs;
  pairs.components = 2;
  const auto right = [&] {
    for (std::size_t k = 0; k < ghosts.size(); ++k)
      if (ghosts[k] !=
          static_cast<float>(2 * s.my_needs()[k / 2] + static_cast<std::int64_t>(k % 2)))
        return false;
    return true;
  };
  vector.forward(std::span<const float>(x), std::span(ghosts), pairs);
  EXPECT_TRUE(right());
  std::ranges::fill(ghosts, -1.f);
  tonari::Request request = vector.forward_init(std::span<const float>(x), std::span(ghosts), pairs,
                                                Info{{"tonari_tune", "off"}});
  request.start(), request.wait();
  EXPECT_TRUE(right());
  const std::vector<float> same = x;
  std::ranges::fill(x, -2.f);
  std::ranges::fill(ghosts, -1.f);
  request.start_with(same.data(), ghosts.data()), request.wait();
  EXPECT_TRUE(right());
  std::vector<std::int64_t> ones(s.my_needs().size(), 1),
      counts(static_cast<std::size_t>(s.mine().count));
  vector.reverse(MPI_SUM, std::span<const std::int64_t>(ones), std::span(counts));
  for (std::int64_t i = 0; i < s.mine().count; ++i) {
    std::int64_t wanted = 0;
    for (const Integers& needs : s.needs) wanted += std::ranges::count(needs, s.mine().first + i);
    EXPECT_EQ(counts[static_cast<std::size_t>(i)], wanted);
  }
}

// Of a mistake of rank 0, on all ranks.
std::string who() {
  return world_size() > 1 ? "rank 0: tonari::DistributedVector: " : "tonari::DistributedVector: ";
}

TEST(VectorCpp, SpansThatAreTooShort) {
  const Integers needs{0};
  const tonari::DistributedVector vector(MPI_COMM_WORLD, world_rank(), 1, needs);
  double x[1] = {1}, ghosts[2] = {};
  const std::size_t room = world_rank() == 0 ? 0 : 1;
  expect_failure(TONARI_ERR_ARGUMENT,
                 {who() + "the spans have 1 owned values and 0 ghosts; there must be 1 and 1"},
                 [&] { vector.forward(std::span<const double>(x), std::span(ghosts, room)); });
  expect_failure(TONARI_ERR_ARGUMENT, {"needs index 99"}, [] {
    tonari::DistributedVector bad(MPI_COMM_WORLD, world_rank(), 1, Integers{99});
  });
}

// A ring: each rank has two values of its own, and one ghost of the next rank in front of them.
TEST(VectorCpp, NeighborListsAndFields) {
  const int rank = world_rank(), ranks = world_size(), next[] = {(rank + 1) % ranks},
            before[] = {(rank + ranks - 1) % ranks}, one[] = {1}, second[] = {2}, front[] = {0};
  const auto vector = tonari::DistributedVector::from_neighbors(
      MPI_COMM_WORLD, 3, {before, one, second}, {next, one, front});
  EXPECT_EQ(vector.owned(), 3);
  EXPECT_EQ(vector.needed(), 1);
  std::vector<double> x{-1, 1.0 + rank, 2.0 + rank};
  std::vector<int> flags{-1, -2, 7 * rank}, apart(1);
  const tonari::VectorField fields[] = {tonari::VectorField(std::span(x)),
                                        {std::span(flags), std::span(apart)}};
  tonari::Request request = vector.forward_init(fields, Info{{"tonari_tune", "off"}});
  request.start(), request.wait();
  EXPECT_EQ(x, (std::vector<double>{2.0 + next[0], 1.0 + rank, 2.0 + rank}));
  EXPECT_EQ(apart[0], 7 * next[0]);
  x[0] = 100;
  vector.reverse(MPI_SUM, fields);
  EXPECT_EQ(x[2], 102.0 + rank);
  EXPECT_EQ(flags[2], 14 * rank);
  std::vector<double> small(2);
  expect_failure(TONARI_ERR_ARGUMENT,
                 {who() + "the spans have 2 owned values and 2 ghosts; there must be 3 and 1"},
                 [&] {
                   vector.forward(std::span<const tonari::VectorField>(
                       {tonari::VectorField(rank ? std::span(x) : std::span(small))}));
                 });
  expect_failure(TONARI_ERR_ARGUMENT, {who() + "there are 0 places, but counts add up to 1"}, [&] {
    (void)tonari::DistributedVector::from_neighbors(
        MPI_COMM_WORLD, 3,
        {before, one, rank ? std::span<const int>(second) : std::span<const int>()},
        {next, one, front});
  });
}

TEST(VectorCpp, Ids) {
  const int rank = world_rank(), ranks = world_size();
  const Integers owned{-5 * rank, 1'000'000'000'000 + rank},
      needed{1'000'000'000'000 + (rank + 1) % ranks};
  const int places[] = {2, 0}, ghost[] = {1};
  const auto vector =
      tonari::DistributedVector::from_ids(MPI_COMM_WORLD, owned, needed, places, ghost);
  std::vector<double> x{1.0 * rank, -1, -2};
  const tonari::VectorField field(std::span{x});
  vector.forward(std::span(&field, 1));
  EXPECT_EQ(x, (std::vector<double>{1.0 * rank, 1.0 * ((rank + 1) % ranks), -2}));
  expect_failure(TONARI_ERR_ARGUMENT, {who() + "there must be as many places as ids"}, [&] {
    (void)tonari::DistributedVector::from_ids(
        MPI_COMM_WORLD, owned, needed,
        rank ? std::span<const int>(places) : std::span<const int>(places, 1), ghost);
  });
}

// ---- products

// A square matrix of integers, known to all ranks, row by row; rows and columns may be empty,
// entries repeat.
struct Matrix {
  std::int64_t size;
  std::vector<std::vector<std::pair<std::int64_t, double>>> rows;

  Matrix(Random& random, std::int64_t n) : size(n), rows(static_cast<std::size_t>(n)) {
    for (auto& row : rows)
      for (int k = pick(random, 0, 3) == 0 ? 0 : pick(random, 1, 9); k > 0; --k)
        row.emplace_back(pick(random, 0, static_cast<int>(n) - 1), pick(random, -9, 9));
  }
  Matrix turned() const {
    Matrix t = *this;
    for (auto& row : t.rows) row.clear();
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (const auto& [c, value] : rows[r])
        t.rows[static_cast<std::size_t>(c)].emplace_back(static_cast<std::int64_t>(r), value);
    return t;
  }
  std::vector<double> times(const std::vector<double>& x) const {
    std::vector<double> y(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (const auto& [c, value] : rows[r]) y[r] += value * x[static_cast<std::size_t>(c)];
    return y;
  }
};

struct Part {
  Integers begin{0}, indices;
  std::vector<double> values;
  Part(const Matrix& m, const Sharing::Range& own) {
    for (std::int64_t r = own.first; r < own.first + own.count; ++r) {
      for (const auto& [c, value] : m.rows[static_cast<std::size_t>(r)])
        indices.push_back(c), values.push_back(value);
      begin.push_back(static_cast<std::int64_t>(indices.size()));
    }
  }
};

TEST(Products, EqualTheWholeMatrix) {
  const int cases = very_slow() ? 1 : crowded() ? 3 : 12;
  for (int k = 0; k < cases; ++k)
    for (const std::string& route : routes_of_case(k)) {
      Random common(static_cast<unsigned>(50 + k));
      Sharing s = draw_ranges(common, 30);
      if (s.size == 0) continue;
      const auto me = static_cast<std::size_t>(world_rank());
      if (s.own[me].count == 0) s.own[me].first = 0;
      const Matrix m(common, s.size);
      const Part by_rows(m, s.mine()), by_columns(m.turned(), s.mine());
      const Info info{{"tonari_route", route}, {"tonari_tune", "off"}};
      tonari::RowParallel rows(MPI_COMM_WORLD, s.mine().first, s.mine().count, by_rows.begin,
                               by_rows.indices, by_rows.values, info);
      tonari::ColumnParallel columns(MPI_COMM_WORLD, s.mine().first, s.mine().count,
                                     by_columns.begin, by_columns.indices, by_columns.values, info);
      tonari::RowParallel moved = std::move(rows);
      for (const int vectors : {1, 3, 1}) {
        const auto own = static_cast<std::size_t>(s.mine().count);
        std::vector<double> x, y(own * static_cast<std::size_t>(vectors)), z = y, wanted;
        for (int v = 0; v < vectors; ++v) {
          std::vector<double> whole(static_cast<std::size_t>(s.size));
          for (std::size_t i = 0; i < whole.size(); ++i)
            whole[i] = static_cast<double>(mix(i + 1000 * static_cast<std::size_t>(v)) % 101);
          const std::vector<double> product = m.times(whole);
          x.insert(x.end(), whole.begin() + s.mine().first,
                   whole.begin() + s.mine().first + s.mine().count);
          wanted.insert(wanted.end(), product.begin() + s.mine().first,
                        product.begin() + s.mine().first + s.mine().count);
        }
        moved.multiply(x, y, vectors);
        columns.multiply(x, z, vectors);
        EXPECT_EQ(y, wanted) << "rows, " << route;
        EXPECT_EQ(z, wanted) << "columns, " << route;
      }
    }
}

TEST(Products, RefuseWhatIsNoMatrix) {
  const int last = world_size() - 1;
  const bool bad = world_rank() == last;
  const std::string who = "rank " + std::to_string(last);
  const std::vector<double> ones(2, 1);
  const auto make = [&](const Integers& begin, const Integers& columns) {
    tonari::RowParallel(MPI_COMM_WORLD, 2 * world_rank(), 2, begin, columns, ones);
  };
  const Integers begin{0, 1, 2}, columns{0, 0};
  expect_failure(TONARI_ERR_ARGUMENT, {who, "row_begin has 2 entries", "one more"},
                 [&] { make(bad ? Integers{0, 2} : begin, columns); });
  expect_failure(TONARI_ERR_ARGUMENT, {who, "starts with 1"},
                 [&] { make(bad ? Integers{1, 1, 2} : begin, columns); });
  expect_failure(TONARI_ERR_ARGUMENT, {who, "descends from 2 to 1"},
                 [&] { make(bad ? Integers{0, 2, 1} : begin, columns); });
  expect_failure(TONARI_ERR_ARGUMENT, {who, "1 indices and 2 values"},
                 [&] { make(begin, bad ? Integers{0} : columns); });
  const std::string size = std::to_string(2 * world_size());
  expect_failure(TONARI_ERR_ARGUMENT, {who + " needs index " + size},
                 [&] { make(begin, bad ? Integers{0, 2 * world_size()} : columns); });
  expect_failure(TONARI_ERR_ARGUMENT, {"column_begin has 1 entries"}, [&] {
    tonari::ColumnParallel(MPI_COMM_WORLD, 2 * world_rank(), 2, Integers{0}, columns, ones);
  });
}

// The rank with the wrong length throws, after all have been served.
TEST(Products, WrongLengths) {
  const Integers begin{0, 1}, next{(world_rank() + 1) % world_size()};
  const std::vector<double> two{2}, x{1.0 + world_rank()};
  const Info info{{"tonari_tune", "off"}};
  tonari::RowParallel rows(MPI_COMM_WORLD, world_rank(), 1, begin, next, two, info);
  tonari::ColumnParallel columns(MPI_COMM_WORLD, world_rank(), 1, begin, next, two, info);
  std::vector<double> y(world_rank() == 0 ? 0 : 1);
  const auto multiply = [&](auto& matrix) {
    if (world_rank() == 0)
      expect_failure(TONARI_ERR_ARGUMENT, {"x and y have 1 and 0 values", "1 times 1"},
                     [&] { matrix.multiply(x, y); });
    else
      matrix.multiply(x, y);
  };
  multiply(rows), multiply(columns);
  y.resize(1);
  rows.multiply(x, y);
  EXPECT_EQ(y[0], 2.0 * (1 + next[0]));
  columns.multiply(x, y);
  EXPECT_EQ(y[0], 2.0 * (1 + (world_rank() + world_size() - 1) % world_size()));
  expect_failure(TONARI_ERR_ARGUMENT, {"vectors is 0"}, [&] { rows.multiply(x, y, 0); });
}

}  // namespace
