// SPDX-License-Identifier: BSD-3-Clause
// One-shot calls go by streams once the first of a direction has connected them: nothing is made or
// asked any more, and what is wrong is heard by those who exchange with the rank that is wrong.
#include "support/counting.hpp"
#include "vector/vectors.hpp"

namespace {

using namespace tonari::test;

constexpr int part = 5;

class OneShotCalls : public VectorTest {
 protected:
  void TearDown() override { free(); }
  void free() { must(tonari_vector_free(&vector)); }
  void make(const std::string& route) { vector = make_vector(s, route); }
  bool neighbor_of_last() const {
    return rank == last || rank == (last + 1) % ranks || rank == (last + ranks - 1) % ranks;
  }
  static double value(std::int64_t index, int round) {
    return static_cast<double>(100 * index + round);
  }
  // Both directions work, with arrays that lie somewhere.
  void well(int round) {
    std::vector<double> x(part), ghosts(2, -1), parts(2), sums(part, 1000);
    for (int i = 0; i < part; ++i) x[static_cast<std::size_t>(i)] = value(rank * part + i, round);
    must(tonari_vector_forward(vector, nullptr, x.data(), ghosts.data()));
    for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(ghosts[k], value(s.my_needs()[k], round));
    parts = {10.0 * rank + round, 20.0 * rank + round};
    must(tonari_vector_reverse(vector, nullptr, MPI_SUM, parts.data(), sums.data()));
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int i = 0; i < part; ++i) {
      const double to_first = i == 0 ? 20.0 * left + round : 0,
                   to_last = i == part - 1 ? 10.0 * right + round : 0;
      EXPECT_EQ(sums[static_cast<std::size_t>(i)], 1000 + to_first + to_last) << "value " << i;
    }
  }
  // heard: by this rank.
  static void expect_heard(int code, bool heard, int expected, const std::string& words) {
    const std::string sentence = code == TONARI_SUCCESS ? "" : tonari_last_error();
    EXPECT_EQ(code, heard ? expected : TONARI_SUCCESS) << sentence;
    if (heard) {
      EXPECT_CONTAINS(sentence, words);
    }
  }
  int forward(const tonari_vector_values* values, const double* own, double* theirs) {
    return tonari_vector_forward(vector, values, own, theirs);
  }

  Sharing s = ring(part);
  int rank = world_rank(), ranks = world_size(), last = ranks - 1;
  tonari_vector vector = TONARI_VECTOR_NULL;
  double x[6 * part] = {}, ghosts[12] = {};
};

TEST_F(OneShotCalls, ThoseThatComeAgainMakeAndAskNothing) {
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer allocates";
  for (const std::string& route : routes_of_case(0)) {
    make(route);
    tonari_vector_values values[2] = {};
    values[1].type = MPI_FLOAT, values[1].components = 2;
    double other[part], others[2];
    for (int round = 0; round < 6; ++round) {
      well(round);
      const bool swap = round % 2;
      for (int i = 0; i < part; ++i)
        x[i] = value(rank * part + i, round), other[i] = -value(rank * part + i, round);
      arm();
      const int code = forward(&values[0], swap ? other : x, swap ? ghosts : others) |
                       forward(&values[1], x, ghosts + 4) |
                       forward(&values[0], swap ? x : other, swap ? others : ghosts);
      const Counts counts = disarm();
      must(code);
      for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_EQ((swap ? others : ghosts)[k], (swap ? 1 : -1) * value(s.my_needs()[k], round));
        EXPECT_EQ((swap ? ghosts : others)[k], (swap ? -1 : 1) * value(s.my_needs()[k], round));
      }
      if (round >= 2) {
        EXPECT_EQ(counts.allocations + counts.setups + counts.collectives, 0) << counts.first;
      }
    }
    free();
  }
}

TEST_F(OneShotCalls, ThoseThatCombineMakeAndAskNothingEither) {
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer allocates";
  make("direct");
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < part; ++i) x[i] = value(rank * part + i, round);
    for (double& ghost : ghosts) ghost = 1;
    arm();
    const int code = tonari_vector_combine(vector, nullptr, MPI_SUM, x, ghosts);
    const Counts counts = disarm();
    must(code);
    const auto sum = [&](std::int64_t index) {
      double all = value(index, round);
      for (const auto& needs : s.needs)
        all += static_cast<double>(std::ranges::count(needs, index));
      return all;
    };
    for (int i = 0; i < part; ++i) EXPECT_EQ(x[i], sum(rank * part + i));
    for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(ghosts[k], sum(s.my_needs()[k]));
    if (round >= 2) {
      EXPECT_EQ(counts.allocations + counts.setups + counts.collectives, 0) << counts.first;
    }
  }
  free();
}

// Neighbors hear of it while they combine, and theirs when they wait for the results.
TEST_F(OneShotCalls, WrongArgumentsOfOneRankThatCombines) {
  make("direct");
  must(tonari_vector_combine(vector, nullptr, MPI_SUM, x, ghosts));
  const bool errs = rank == last;
  const int apart = std::min(last - rank, rank + 1);
  for (int again = 0; again < 4; ++again) {
    expect_heard(tonari_vector_combine(vector, nullptr, errs ? MPI_PROD : MPI_SUM, x, ghosts),
                 apart <= 2, TONARI_ERR_ARGUMENT, "MPI_SUM");
    must(tonari_vector_combine(vector, nullptr, MPI_MAX, x, ghosts));
  }
  free();
}

TEST_F(OneShotCalls, WrongArgumentsOfOneRank) {
  for (const char* nodes : {"", "1"}) {
    Nodes::set(nodes);
    make("direct");
    well(0);
    const bool errs = rank == last;
    for (int again = 0; again < 6; ++again) {
      expect_heard(forward(nullptr, errs ? nullptr : x, ghosts), neighbor_of_last(),
                   TONARI_ERR_ARGUMENT, "`owned` is NULL");
      expect_heard(forward(nullptr, x, errs ? x + 1 : ghosts), neighbor_of_last(),
                   TONARI_ERR_BUFFERS, "overlap");
      tonari_vector_values values{};
      values.vectors = errs ? -1 : 0;
      expect_heard(forward(&values, x, ghosts), neighbor_of_last(), TONARI_ERR_ARGUMENT,
                   "vectors is -1");
      expect_heard(tonari_vector_reverse(vector, nullptr, errs ? MPI_PROD : MPI_SUM, ghosts, x),
                   neighbor_of_last(), TONARI_ERR_ARGUMENT, "MPI_SUM, MPI_MIN or MPI_MAX");
      tonari_vector_field two[2] = {};
      for (int f = 0; f < 2; ++f) two[f].owned = x + 2 * f * part, two[f].ghosts = ghosts + 2 * f;
      expect_heard(tonari_vector_forward_fields(vector, errs ? 0 : 2, two), neighbor_of_last(),
                   TONARI_ERR_ARGUMENT, "`fields` is 0");
      if (errs) two[1].ghosts = ghosts + 1;
      expect_heard(tonari_vector_forward_fields(vector, 2, two), neighbor_of_last(),
                   TONARI_ERR_BUFFERS, "overlap");
      well(again);
    }
    free();
  }
}

// Of two fields with two vectors each, any two arrays that share a value, be it the last, are found
// after calls whose arrays were right. Arrays that only touch each other are right.
TEST_F(OneShotCalls, ArraysThatOverlapAfterGoodCalls) {
  make("direct");
  tonari_vector_values values{};
  values.vectors = 2, values.owned_stride = part + 1, values.ghost_stride = 3;
  constexpr std::ptrdiff_t owned = 2 * part + 1, theirs = 5;  // from the first value to the last
  const std::ptrdiff_t lengths[] = {owned, theirs, owned, theirs};
  double memory[200];
  const auto call = [&](const std::array<double*, 4>& arrays) {
    tonari_vector_field fields[2] = {};
    for (std::size_t f = 0; f < 2; ++f)
      fields[f].values = values, fields[f].owned = arrays[2 * f],
      fields[f].ghosts = arrays[2 * f + 1];
    return tonari_vector_forward_fields(vector, 2, fields);
  };
  const std::array<double*, 4> apart{memory, memory + 40, memory + 80, memory + 120};
  for (std::size_t one = 0; one < 4; ++one)
    for (std::size_t other = 0; other < 4; ++other) {
      if (one == other) continue;
      must(call(apart));
      std::array<double*, 4> arrays = apart;
      if (rank == last) arrays[one] = arrays[other] + lengths[other];
      must(call(arrays));
      if (rank == last) --arrays[one];
      expect_heard(call(arrays), neighbor_of_last(), TONARI_ERR_BUFFERS, "overlap");
    }
}

TEST_F(OneShotCalls, ValuesThatDiffer) {
  if (ranks == 1) GTEST_SKIP() << "one rank agrees with itself";
  for (const char* nodes : {"", "1"}) {
    Nodes::set(nodes);
    make("direct");
    well(0);
    const bool errs = rank == last, heard = neighbor_of_last();
    tonari_vector_values values[3] = {};
    values[0].components = 2, values[1].vectors = 2, values[2].type = MPI_INT64_T;
    for (int again = 0; again < 2; ++again) {
      expect_heard(forward(errs ? &values[0] : nullptr, x, ghosts), heard, TONARI_ERR_MISMATCH,
                   "same number of bytes");
      expect_heard(forward(errs ? &values[1] : nullptr, x, ghosts), heard, TONARI_ERR_MISMATCH,
                   "numbers of vectors");
      expect_heard(forward(&values[errs], x, ghosts), heard, TONARI_ERR_MISMATCH,
                   "same number of bytes");  // of an index, though messages are equally long
      expect_heard(tonari_vector_reverse(vector, nullptr, errs ? MPI_MAX : MPI_SUM, ghosts, x),
                   heard, TONARI_ERR_MISMATCH, "different operations");
      expect_heard(tonari_vector_reverse(vector, errs ? &values[2] : nullptr, MPI_SUM, ghosts, x),
                   heard, TONARI_ERR_MISMATCH, "different operations or types");
      well(again);
    }
    free();
  }
}

// Whoever gets no values of the rank that is wrong, nor any by way of it, gets right ones. Nobody
// waits for ever, and all hops stay in step.
TEST_F(OneShotCalls, WrongArgumentsAcrossHops) {
  for (const std::string& route : routes()) {
    make(route);
    for (int who = 0; who < ranks; ++who) {
      well(who);
      for (int i = 0; i < part; ++i) x[i] = value(rank * part + i, who);
      ghosts[0] = ghosts[1] = -1;
      const int code = forward(nullptr, rank == who ? nullptr : x, ghosts);
      const bool needs =
          rank == who || (rank + 1) % ranks == who || (rank + ranks - 1) % ranks == who;
      if (needs || code != TONARI_SUCCESS)
        expect_heard(code, true, TONARI_ERR_ARGUMENT, "`owned` is NULL");
      else
        for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(ghosts[k], value(s.my_needs()[k], who));
    }
    well(99);
    free();
  }
}

// A type that is gone, and another one in its place.
TEST_F(OneShotCalls, TypesThatComeAndGo) {
  make("direct");
  for (int round = 0; round < 12; ++round) {
    const int length = round % 3 + 1;
    MPI_Datatype type;
    MPI_Type_contiguous(length, MPI_INT32_T, &type);
    MPI_Type_commit(&type);
    const auto n = static_cast<std::size_t>(length);
    std::vector<std::int32_t> own(part * n), theirs(2 * n, -1);
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = 1000 * rank + static_cast<int>(i) + round;
    tonari_vector_values values{};
    values.type = type;
    for (int time = 0; time < 2; ++time)
      must(tonari_vector_forward(vector, &values, own.data(), theirs.data()));
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (std::size_t c = 0; c < n; ++c) {
      EXPECT_EQ(theirs[c], 1000 * left + static_cast<int>((part - 1) * n + c) + round);
      EXPECT_EQ(theirs[n + c], 1000 * right + static_cast<int>(c) + round);
    }
    MPI_Type_free(&type);
  }
}

}  // namespace
