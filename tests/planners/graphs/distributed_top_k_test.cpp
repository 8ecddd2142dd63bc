// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/distributed_top_k.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "planners/graphs/local_bsp_comm.hpp"

namespace tonari {
namespace {

// A group of a few of the ranks, as a process with MPI has it; combining is done by the test.
class Part final : public BspComm {
 public:
  Part(int ranks, int first, int step) {
    ranks_ = ranks;
    for (int r = first; r < ranks; r += step) here_.push_back(r);
  }
  using BspComm::send;
  void send(std::size_t, std::int32_t, std::span<const Word>) override {}
  void exchange() override {}
  std::span<const BspMessage> inbox(std::size_t) const override { return {}; }
  std::span<const std::size_t> receivers() const override { return {}; }
  void sum(std::span<Word>) override {}
  void max(std::span<Word>) override {}
};

TEST(DistributedTopK, NothingIsFoundWhereNothingIsSet) {
  LocalBspComm bsp(5);
  const DistributedTopK high(bsp, 3), low(bsp, 1);
  const Found found = find(bsp, high, low);
  EXPECT_TRUE(found.high.empty());
  EXPECT_TRUE(found.low.empty());
}

TEST(DistributedTopK, OneClassFollowsEveryChangeAndGivesTiesToTheLowestRank) {
  std::mt19937 random(7);
  for (int ranks : {1, 2, 5, 33}) {
    LocalBspComm bsp(ranks);
    DistributedTopK extremes(bsp, 1);
    std::vector<Word> values(ranks, DistributedTopK::none);
    for (int change = 0; change < 500; ++change) {
      const std::size_t k = random() % ranks;
      values[k] = random() % 4 == 0 ? DistributedTopK::none : static_cast<Word>(random() % 9) - 4;
      extremes.set(k, values[k]);
      EXPECT_EQ(extremes.value(k), values[k]);
      const auto found = find(bsp, extremes, extremes).high;
      const auto best = std::max_element(values.begin(), values.end());  // the first of equal ones
      ASSERT_EQ(found.empty(), *best == DistributedTopK::none);
      if (found.empty()) continue;
      ASSERT_EQ(found.size(), 1u);
      ASSERT_EQ(found[0].rank, best - values.begin());
      ASSERT_EQ(found[0].value, *best);
    }
  }
}

TEST(DistributedTopK, LargeValuesKeepTheirRank) {
  LocalBspComm bsp(100000);
  DistributedTopK extremes(bsp, 1);
  const Word large = Word{1} << 31;
  extremes.set(99999, large);
  extremes.set(70000, large);
  extremes.set(3, -large);
  const auto found = find(bsp, extremes, extremes).high;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rank, 70000);
  EXPECT_EQ(found[0].value, large);
}

// Several classes: descending, the first is the highest of all, no rank twice, and all are found
// once lower ones fade.
TEST(DistributedTopK, ClassesFindManyAtOnce) {
  constexpr int ranks = 200;
  LocalBspComm bsp(ranks);
  DistributedTopK extremes(bsp, 16);
  std::mt19937 random(3);
  std::vector<Word> values(ranks);
  for (int r = 0; r < ranks; ++r) extremes.set(r, values[r] = static_cast<Word>(random() % 50));
  std::size_t total = 0;
  for (int left = ranks; left > 0;) {
    const auto found = find(bsp, extremes, extremes).high;
    const auto best = std::max_element(values.begin(), values.end());
    ASSERT_FALSE(found.empty());
    ASSERT_EQ(found[0].rank, best - values.begin());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].value, values[found[i].rank]);
      if (i) {
        ASSERT_TRUE(found[i - 1].value > found[i].value ||
                    (found[i - 1].value == found[i].value && found[i - 1].rank < found[i].rank));
      }
    }
    for (const auto& entry : found)
      extremes.set(entry.rank, values[entry.rank] = DistributedTopK::none);
    left -= static_cast<int>(found.size());
    total += found.size();
  }
  EXPECT_EQ(total, static_cast<std::size_t>(ranks));
}

// The answer does not depend on how ranks are spread over processes.
TEST(DistributedTopK, PartsCombineToTheWhole) {
  constexpr int ranks = 40, processes = 7;
  LocalBspComm bsp(ranks);
  DistributedTopK whole(bsp, 5);
  std::vector<Word> combined(5, DistributedTopK::none);
  for (int r = 0; r < ranks; ++r) whole.set(r, r * 7 % 11);
  for (int p = 0; p < processes; ++p) {
    const Part part(ranks, p, processes);
    DistributedTopK piece(part, 5);
    for (std::size_t k = 0; k < part.here().size(); ++k) piece.set(k, part.here()[k] * 7 % 11);
    std::vector<Word> words;
    piece.contribute(words);
    ASSERT_EQ(words.size(), combined.size());
    for (std::size_t i = 0; i < words.size(); ++i) combined[i] = std::max(combined[i], words[i]);
  }
  std::vector<Word> expected;
  whole.contribute(expected);
  EXPECT_EQ(combined, expected);
  EXPECT_EQ(whole.read(combined)[0].value, 10);
}

}  // namespace
}  // namespace tonari
