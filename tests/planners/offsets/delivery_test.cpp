// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm, every variant, both storages, several ports: the reference executor proves the
// plans of random neighborhoods.
#include <gtest/gtest.h>

#include "planners/offsets/cases.hpp"
#include "support/grids.hpp"
#include "support/random_cases.hpp"

namespace tonari {
namespace {

using test::Random;

struct Count {
  int schedules = 0, plans = 0;
};

bool proven(const OffsetVariant& schedule, EmitOptions options, const Delivery& delivery,
            std::uint64_t seed) {
  const std::vector<Plan> plans = test::plans_of_all_ranks(schedule, options);
  const Proof proof = prove(plans, delivery, seed);
  EXPECT_TRUE(proof) << schedule.label() << ' ' << name(schedule.collective()) << ", storage "
                     << static_cast<int>(options.storage) << ", ports " << options.ports << " on "
                     << test::describe(schedule.near()) << '\n'
                     << proof.what;
  return proof.ok;
}

// All options for one neighborhood and collective; false at the first fault.
bool all_proven(const Neighborhood& near, Collective collective, Random& random, Count& count) {
  const auto shared = std::make_shared<const Neighborhood>(near);
  const Delivery delivery = expected_delivery(
      near, collective,
      test::random_bytes(random, collective == Collective::alltoall ? near.offsets.size() : 1));
  bool good = true;
  test::for_each_schedule(shared, collective, [&](const OffsetVariant& schedule) {
    ++count.schedules;
    for (Storage storage : {Storage::separate, Storage::alternate})
      for (int ports = 0; ports <= 3 && good; ++ports, ++count.plans)
        good = proven(schedule, {storage, ports}, delivery, random.between(1, 1 << 30));
  });
  return good;
}

Count prove_random_cases(std::uint64_t seed, int cases, int low_dimension, int high_dimension,
                         int most_ranks, int most_offsets) {
  Random random(seed);
  Count count;
  for (int k = 0; k < cases; ++k) {
    const Grid grid =
        test::random_grid(random, random.between(low_dimension, high_dimension), most_ranks);
    const Neighborhood near{grid, test::random_offsets(random, grid, most_offsets)};
    for (Collective collective : {Collective::alltoall, Collective::allgather})
      if (!all_proven(near, collective, random, count)) return count;
  }
  return count;
}

class EveryAlgorithmDelivers : public testing::TestWithParam<int> {};

TEST_P(EveryAlgorithmDelivers, InOneToFiveDimensions) {
  const Count count = prove_random_cases(1000 + GetParam(), test::random_cases(150), GetParam(),
                                         GetParam(), 48, 12);
  EXPECT_GT(count.schedules, test::random_cases(900));  // none was left out by being inapplicable
}
INSTANTIATE_TEST_SUITE_P(Dimensions, EveryAlgorithmDelivers, testing::Range(1, 6));

TEST(EveryAlgorithmDelivers, InUpToEightDimensions) {
  const Count count = prove_random_cases(77, 25, 6, 8, 40, 10);
  EXPECT_GT(count.schedules, 100);
}

TEST(EveryAlgorithmDelivers, ToManyNeighbors) {
  const Count count = prove_random_cases(99, 12, 2, 4, 30, 90);
  EXPECT_GT(count.schedules, 50);
}

TEST(EveryAlgorithmDelivers, NothingToNobody) {
  Random random(5);
  Count count;
  for (const Grid& grid :
       {test::torus({1}), test::mesh({1, 1}), test::torus({3, 2}), test::mesh({4})})
    for (Collective collective : {Collective::alltoall, Collective::allgather}) {
      EXPECT_TRUE(all_proven({grid, {}}, collective, random, count));
      EXPECT_TRUE(all_proven({grid, {Vec{}, Vec{}}}, collective, random, count));
      EXPECT_TRUE(all_proven({grid, {Vec{100}, Vec{-1000000}}}, collective, random, count));
    }
}

TEST(EveryAlgorithmDelivers, OnMeshesWithEveryOffsetThatFits) {
  Random random(6);
  Count count;
  std::vector<Vec> offsets;
  for (int a = -3; a <= 3; ++a)
    for (int b = -3; b <= 3; ++b) offsets.push_back(Vec{a, b});
  for (const Grid& grid : {test::mesh({4, 3}), test::mesh({3, 5}), test::mesh({1, 4}),
                           test::mesh({2, 2}), test::torus({4, 4}), test::torus({2, 5})})
    for (Collective collective : {Collective::alltoall, Collective::allgather})
      EXPECT_TRUE(all_proven({grid, offsets}, collective, random, count));
}

// What prove() is told to expect, written down by hand once.
TEST(Delivery, ComesFromTheSourcesOfTheNeighborhood) {
  const Neighborhood near{test::mesh({3}), {Vec{1}, Vec{-2}, Vec{0}}};
  const std::vector<std::uint64_t> bytes{4, 5, 6};
  const Delivery all = expected_delivery(near, Collective::alltoall, bytes);
  EXPECT_EQ(all.expected[0][0].rank, -1);
  EXPECT_EQ(all.expected[1][0].rank, 0);
  EXPECT_EQ(all.expected[0][1].rank, 2);
  EXPECT_EQ(all.expected[0][1].block, 1u);
  EXPECT_EQ(all.expected[2][1].rank, -1);
  EXPECT_EQ(all.expected[2][2].rank, 2);
  EXPECT_EQ(all.recv_bytes[2], bytes);
  const Delivery gather = expected_delivery(near, Collective::allgather, std::span(bytes).first(1));
  EXPECT_EQ(gather.expected[0][1].rank, 2);
  EXPECT_EQ(gather.expected[0][1].block, 0u);
  EXPECT_EQ(gather.recv_bytes[0], (std::vector<std::uint64_t>{4, 4, 4}));
  EXPECT_EQ(gather.send_bytes[0], (std::vector<std::uint64_t>{4}));
}

}  // namespace
}  // namespace tonari
