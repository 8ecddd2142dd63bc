// SPDX-License-Identifier: BSD-3-Clause
// The ranges that the C++ interface takes, as buffers and as counts: each delivers, and what has no
// right length fails on all ranks.
#include <tonari/group.hpp>
#include <tonari/sparse.hpp>
#include <tonari/vector.hpp>

#include <array>
#include <climits>
#include <complex>
#include <cstdlib>
#include <list>
#include <numeric>
#if __has_include(<mdspan>)
#include <mdspan>
#endif

#include "api/errors.hpp"
#include "support/view_of_two.hpp"

namespace {

using namespace tonari::test;

// Each rank sends a block to the next, and one to the rank before.
class Ranges : public testing::Test {
 protected:
  void SetUp() override {
    const int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
    near = tonari::Neighborhood(ring, std::array{1, -1});
  }
  void TearDown() override {
    near = {};
    MPI_Comm_free(&ring);
  }
  int before() const { return (rank + ranks - 1) % ranks; }
  int after() const { return (rank + 1) % ranks; }

  // Element k of block i that a rank sends.
  template <class T>
  static T value(int from, std::size_t i, std::size_t k) {
    return static_cast<T>(30 * from + 10 * static_cast<int>(i) + static_cast<int>(k));
  }
  template <class T>
  std::vector<T> sent(std::size_t each) const {
    std::vector<T> all;
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t k = 0; k < each; ++k) all.push_back(value<T>(rank, i, k));
    return all;
  }
  template <class T>
  std::vector<T> wanted(std::size_t each) const {
    std::vector<T> all;
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t k = 0; k < each; ++k) all.push_back(value<T>(i ? after() : before(), i, k));
    return all;
  }
  // By a request, a call, and a call that returns at once.
  template <class Out, class In, class T>
  void expect_delivered(const Out& out, In& in, const std::vector<T>& want, const T* at) {
    const auto check = [&](const char* how) {
      EXPECT_EQ(std::vector<T>(at, at + want.size()), want) << how;
      std::fill_n(const_cast<T*>(at), want.size(), T{});
    };
    tonari::Request request = near.alltoall_init(out, in);
    for (int round = 0; round < 2; ++round) request.start(), request.wait(), check("request");
    near.alltoall(out, in), check("once");
    near.ialltoall(out, in).wait(), check("non-blocking");
  }
  template <class T>
  void of_type() {
    const std::vector<T> out = sent<T>(3);
    std::vector<T> in(6);
    expect_delivered(out, in, wanted<T>(3), in.data());
  }

  int rank = world_rank(), ranks = world_size();
  MPI_Comm ring = MPI_COMM_NULL;
  tonari::Neighborhood near;
};

TEST_F(Ranges, VectorsOfAllNumbers) {
  of_type<float>(), of_type<double>(), of_type<long double>();
  of_type<char>(), of_type<signed char>(), of_type<unsigned char>();
  of_type<short>(), of_type<unsigned short>(), of_type<int>(), of_type<unsigned>();
  of_type<long>(), of_type<unsigned long>(), of_type<long long>(), of_type<unsigned long long>();
  of_type<std::complex<float>>(), of_type<std::complex<double>>();
}

TEST_F(Ranges, ArraysSpansAndArraysOfC) {
  const auto list = sent<int>(2);
  const std::array<int, 4> out{list[0], list[1], list[2], list[3]};
  std::array<int, 4> in{};
  expect_delivered(out, in, wanted<int>(2), in.data());
  int plain[4] = {list[0], list[1], list[2], list[3]}, came[4] = {};
  expect_delivered(plain, came, wanted<int>(2), came);
  // temporaries that own nothing
  near.alltoall(std::span(plain), std::span(came));
  EXPECT_EQ(std::vector<int>(came, came + 4), wanted<int>(2));
}

// An element is an array: 3 numbers each, one element per block.
TEST_F(Ranges, ElementsThatAreArrays) {
  using Point = std::array<double, 3>;
  const std::vector<Point> out{{rank + 0.5, 1, 2}, {rank + 0.25, 3, 4}};
  std::vector<Point> in(2);
  expect_delivered(out, in, std::vector<Point>{{before() + 0.5, 1, 2}, {after() + 0.25, 3, 4}},
                   in.data());
  std::vector<Point> all(2);
  near.allgather(std::span(out).first(1), all);
  EXPECT_EQ(all[0][0], before() + 0.5);
  EXPECT_EQ(all[1][0], after() + 0.5);
}

TEST_F(Ranges, ViewsOfSeveralDimensions) {
  const auto out = sent<double>(6);
  std::vector<double> in(12);
  ViewOfTwo<const double> from(out.data(), 4, 3, 3);
  ViewOfTwo<double> to(in.data(), 4, 3, 3);
  expect_delivered(from, to, wanted<double>(6), in.data());
#if defined(__cpp_lib_mdspan)
  std::mdspan standard(in.data(), 4, 3);
  expect_delivered(std::mdspan(out.data(), 4, 3), standard, wanted<double>(6), in.data());
#endif
}

// One rank alone has gaps, or a length that makes no equal blocks: all ranks throw.
TEST_F(Ranges, WhatIsNoBufferFailsEverywhere) {
  const auto out = sent<double>(6);
  std::vector<double> in(13);
  const bool errs = rank == ranks - 1;
  const std::string who = "rank " + std::to_string(ranks - 1) + ": ";
  const auto refused = [&](const std::string& sentence, auto call) {
    int code = TONARI_SUCCESS;
    try {
      call();
    } catch (const tonari::Failure& failure) {
      code = failure.code();
    }
    expect_everywhere(code, TONARI_ERR_ARGUMENT, {ranks > 1 ? who + sentence : sentence});
  };
  refused("`recv` has gaps between its elements",
          [&] { (void)near.alltoall_init(out, ViewOfTwo<double>(in.data(), 3, 4, errs ? 5 : 4)); });
  refused("`recv` has 13 elements; they must make 2 blocks of one size",
          [&] { near.alltoall(out, std::span(in).first(errs ? 13 : 12)); });
  refused("`send` has 11 elements; they must make 2 blocks of one size", [&] {
    (void)near.alltoall_init(std::span(out).first(errs ? 11 : 12), std::span(in).first(12));
  });
  refused("`recv` has 11 elements; they must make 2 blocks of one size",
          [&] { near.allgather(std::span(out).first(6), std::span(in).first(errs ? 11 : 12)); });
}

// The offsets of one rank make no whole ones, and its lists have other lengths.
TEST_F(Ranges, WrongNeighborhoodsFailEverywhere) {
  const bool errs = rank == 0;
  const std::string who = ranks > 1 ? "rank 0: " : "";
  const auto refused = [&](const std::string& sentence, auto call) {
    try {
      (void)call();
      ADD_FAILURE() << sentence;
    } catch (const tonari::Failure& failure) {
      EXPECT_EQ(failure.code(), TONARI_ERR_ARGUMENT);
      EXPECT_EQ(failure.what(), who + sentence);
    }
  };
  const int dims[] = {ranks, 1}, periods[] = {1, 1};
  MPI_Comm plane;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &plane);
  const std::vector<int> offsets{1, 0, 1};
  refused("3 integers are no list of offsets in 2 dimensions; give 2 for each neighbor",
          [&] { return tonari::Neighborhood(plane, std::span(offsets).first(errs ? 3 : 2)); });
  MPI_Comm_free(&plane);
  const std::vector<int> to{after()}, from{before()}, weights{1, 1};
  refused("`destweights` has 2 entries; there must be 1, one for each target", [&] {
    return tonari::Neighborhood::adjacent(MPI_COMM_WORLD, from, std::span(weights).first(1), to,
                                          std::span(weights).first(errs ? 2 : 1));
  });
}

// ---- counts

TEST_F(Ranges, CountsOfEitherWidthAndOfBoth) {
  const std::vector<int> ints{2, 1};
  const std::array<MPI_Count, 2> large{2, 1};
  const std::array<MPI_Aint, 2> places{0, 4}, into{3, 0};
  const std::vector<int> out{rank, rank + 100, -1, -1, rank + 200};
  // block 0 comes from the rank before, with 2 numbers; block 1 from the next one, with 1
  const std::vector<int> want{after() + 200, 0, 0, before(), before() + 100};
  const auto exchange = [&](const tonari::Counts& sends, const tonari::Counts& receives) {
    const auto expect = [&](std::vector<int>& in) {
      EXPECT_EQ(in, want);
      std::ranges::fill(in, 0);
    };
    std::vector<int> in(5);
    tonari::Request request =
        near.alltoallv_init(out.data(), sends, places, MPI_INT, in.data(), receives, into, MPI_INT);
    request.start(), request.wait(), expect(in);
    near.alltoallv(out.data(), sends, places, MPI_INT, in.data(), receives, into, MPI_INT),
        expect(in);
    near.ialltoallv(out.data(), sends, places, MPI_INT, in.data(), receives, into, MPI_INT).wait(),
        expect(in);
    const std::array bytes{MPI_Aint{0}, MPI_Aint{16}}, to{MPI_Aint{12}, MPI_Aint{0}};
    const std::array types{MPI_INT, MPI_INT};
    near.alltoallw(out.data(), sends, bytes, types, in.data(), receives, to, types), expect(in);
  };
  const std::vector<int> same{2, 1};
  exchange(ints, same), exchange(large, large), exchange(ints, large), exchange(large, same);
}

TEST_F(Ranges, GatheringIntoCounts) {
  const std::vector<std::int64_t> counts{2, 2};
  const std::vector<int> ints{2, 2};
  const std::vector<MPI_Aint> places{2, 0};
  const std::vector<long long> out{rank, rank + 100};
  const std::vector<long long> want{after(), after() + 100, before(), before() + 100};
  for (const tonari::Counts& given : {tonari::Counts(counts), tonari::Counts(ints)}) {
    std::vector<long long> in(4);
    near.allgatherv(out.data(), 2, MPI_LONG_LONG, in.data(), given, places, MPI_LONG_LONG);
    EXPECT_EQ(in, want);
  }
}

TEST_F(Ranges, ListsOfTheWrongLengthFailEverywhere) {
  const std::vector<int> out(4), two{1, 1}, three{1, 1, 1};
  std::vector<int> in(4);
  const std::vector<MPI_Aint> places{0, 2};
  const bool errs = rank == 0;
  int code = TONARI_SUCCESS;
  const std::string who = ranks > 1 ? "rank 0: " : "";
  try {
    near.alltoallv(out.data(), two, places, MPI_INT, in.data(), errs ? three : two, places,
                   MPI_INT);
  } catch (const tonari::Failure& failure) {
    code = failure.code();
  }
  expect_everywhere(code, TONARI_ERR_ARGUMENT,
                    {who + "`recvcounts` has 3 entries; there must be 2, one for each neighbor"});
}

// ---- in place, sparse messages, vectors

TEST_F(Ranges, InPlace) {
  const auto s = static_cast<std::size_t>(ranks);
  std::vector<std::array<int, 2>> regular(s);
  for (int j = 0; j < ranks; ++j) regular[static_cast<std::size_t>(j)] = {rank, j};
  tonari::alltoall_inplace(regular, MPI_COMM_WORLD);
  for (int j = 0; j < ranks; ++j)
    EXPECT_EQ(regular[static_cast<std::size_t>(j)], (std::array{j, rank}));
  const std::vector<MPI_Count> large(s, 3);
  const std::vector<int> ints(s, 3);
  std::vector<MPI_Aint> places(s);
  for (std::size_t j = 0; j < s; ++j) places[j] = static_cast<MPI_Aint>(3 * j);
  const auto number = [](int from, std::size_t to, std::size_t k) {
    return 1000LL * from + 10 * static_cast<int>(to) + static_cast<int>(k);
  };
  for (const tonari::Counts& counts : {tonari::Counts(large), tonari::Counts(ints)}) {
    std::vector<long long> buf(3 * s);
    for (std::size_t n = 0; n < buf.size(); ++n) buf[n] = number(rank, n / 3, n % 3);
    tonari::alltoallv_inplace(buf, counts, places, MPI_COMM_WORLD);
    for (std::size_t n = 0; n < buf.size(); ++n)
      EXPECT_EQ(buf[n], number(static_cast<int>(n / 3), static_cast<std::size_t>(rank), n % 3));
    // on one rank the last block reaches beyond the buffer
    int code = TONARI_SUCCESS;
    try {
      tonari::alltoallv_inplace(std::span(buf).first(buf.size() - (rank == 0)), counts, places,
                                MPI_COMM_WORLD);
    } catch (const tonari::Failure& failure) {
      code = failure.code();
    }
    const std::string last = std::to_string(ranks - 1), all = std::to_string(3 * ranks - 1);
    expect_everywhere(code, TONARI_ERR_ARGUMENT,
                      {(ranks > 1 ? "rank 0: `buf` has " : "`buf` has ") + all +
                           " elements, and block " + last + " has 3 from number ",
                       "; every block must end within `buf`"});
  }
}

TEST_F(Ranges, SparseMessagesAndVectors) {
  const std::vector<long long> values{rank, rank + 1000};
  const std::array to{after()};
  const std::array<MPI_Count, 1> counts{2};
  const auto got = tonari::sparse_alltoallv(MPI_COMM_WORLD, to, counts, values);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].values[1], before() + 1000);
  const std::array<std::int64_t, 1> needs{after()};
  const tonari::DistributedVector vector(MPI_COMM_WORLD, rank, 1, needs);
  const std::array<double, 1> x{rank + 0.5};
  std::vector<double> ghosts(1);
  vector.forward(x, ghosts);
  EXPECT_EQ(ghosts[0], after() + 0.5);
  tonari::Request fill = vector.forward_init(x, ghosts);
  ghosts[0] = 0;
  fill.start(), fill.wait();
  EXPECT_EQ(ghosts[0], after() + 0.5);
  std::vector<double> sum{1};
  vector.reverse(MPI_SUM, ghosts, sum);
  EXPECT_EQ(sum[0], 1 + rank + 0.5);
}

// ---- what must not compile

template <class Out, class In>
concept Exchanges = requires(const tonari::Neighborhood& near, Out&& out, In&& in) {
  near.alltoall(std::forward<Out>(out), std::forward<In>(in));
};
using Doubles = std::vector<double>;
static_assert(Exchanges<const Doubles&, Doubles&>);
static_assert(Exchanges<Doubles&, std::span<double>>);
static_assert(!Exchanges<Doubles&, const Doubles&>, "what is received is written");
static_assert(!Exchanges<Doubles&, Doubles>, "a temporary is gone before the request");
static_assert(!Exchanges<Doubles, Doubles&>);
static_assert(!Exchanges<Doubles&, std::vector<float>&>, "other elements");
static_assert(!Exchanges<std::list<double>&, Doubles&>, "not contiguous");
static_assert(!Exchanges<std::vector<std::string>&, std::vector<std::string>&>, "no numbers");
static_assert(!std::constructible_from<tonari::Counts, const std::vector<unsigned>&>);
static_assert(!std::constructible_from<tonari::Counts, const std::vector<short>&>);

}  // namespace
