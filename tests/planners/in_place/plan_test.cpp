// SPDX-License-Identifier: BSD-3-Clause
// Plans of in-place exchanges: proven for all orders, whatever memory each rank has, and within
// that memory whatever happens first.
#include "planners/in_place/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "analysis/executor.hpp"
#include "analysis/printer.hpp"
#include "planners/in_place/order.hpp"

namespace tonari {
namespace {

using Ranks = std::vector<std::int32_t>;
using Needs = std::vector<SwapNeed>;

constexpr SwapOrder all_orders[] = {SwapOrder::mpich, SwapOrder::linear_shift,
                                    SwapOrder::hierarchical_sets};

// An exchange of random blocks, a third of them empty, by ranks that each have temporary memory of
// their own and think differently of what they need.
struct Case {
  std::vector<Needs> needs;  // [rank][peer]
  std::vector<std::uint64_t> memory;
  Ranks node_of;
};

std::uint64_t total_wanted(const Needs& needs) {
  return std::accumulate(needs.begin(), needs.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const SwapNeed& need) { return sum + need.memory; });
}

Case random_case(std::mt19937& random, std::int32_t p) {
  Case c;
  c.needs.assign(static_cast<std::size_t>(p), Needs(static_cast<std::size_t>(p)));
  for (std::int32_t i = 0; i < p; ++i)
    for (std::int32_t j = 0; j <= i; ++j) {
      const std::uint64_t bytes = random() % 3 == 0 ? 0 : random() % 24;
      for (const auto& [a, b] : {std::pair(i, j), std::pair(j, i)})
        c.needs[a][b] = {
            bytes,
            bytes == 0 ? 0 : std::array<std::uint64_t, 3>{bytes, random() % 4, 7}[random() % 3]};
    }
  for (const Needs& needs : c.needs) {
    const std::uint64_t all = total_wanted(needs);
    c.memory.push_back(std::array<std::uint64_t, 5>{0, 1, 5, all / 3, all}[random() % 5]);
  }
  if (random() % 2 == 0)
    for (std::int32_t r = 0; r < p; ++r)
      c.node_of.push_back(static_cast<std::int32_t>(random() % (1 + static_cast<unsigned>(p) / 4)));
  return c;
}

std::vector<Plan> plans_of(const Case& c, SwapOrder order) {
  const auto p = static_cast<std::int32_t>(c.needs.size());
  std::vector<Plan> plans;
  for (std::int32_t r = 0; r < p; ++r)
    plans.push_back(plan_inplace(r, partners(order, r, p, c.node_of), c.needs[r], c.memory[r]));
  return plans;
}

// Block j of rank r becomes what block r of rank j was.
Delivery transposed(const Case& c) {
  Delivery delivery;
  delivery.in_place = true;
  const auto p = static_cast<std::int32_t>(c.needs.size());
  for (std::int32_t r = 0; r < p; ++r) {
    auto& expected = delivery.expected.emplace_back();
    auto& bytes = delivery.recv_bytes.emplace_back();
    for (std::int32_t j = 0; j < p; ++j)
      expected.push_back({j, static_cast<std::uint32_t>(r)}), bytes.push_back(c.needs[r][j].bytes);
  }
  return delivery;
}

TEST(InplacePlan, IsProvenForAllOrdersAndAnyMemory) {
  std::mt19937 random(1);
  for (std::int32_t p = 1; p <= 64; ++p)
    for (int repeat = 0; repeat < (p < 24 ? 4 : 1); ++repeat) {
      const Case c = random_case(random, p);
      const Delivery delivery = transposed(c);
      for (SwapOrder order : all_orders) {
        const Proof proof = prove(plans_of(c, order), delivery, random());
        ASSERT_TRUE(proof) << name(order) << ", " << p << " ranks: " << proof.what;
      }
    }
}

// The most that is granted at a time if the plan of one rank runs with partners that come in random
// order.
std::uint64_t most_in_use(const Plan& plan, const Needs& needs, std::uint64_t memory,
                          std::mt19937& random) {
  std::vector<std::uint32_t> waiting(plan.size());
  std::vector<OpId> running;
  std::uint64_t use = 0, most = 0;
  const auto start = [&](OpId op) {
    running.push_back(op);
    use += granted(needs[plan[op].peer], memory);
    most = std::max(most, use);
  };
  for (OpId op = 0; op < plan.size(); ++op)
    if ((waiting[op] = plan.predecessor_count(op)) == 0) start(op);
  while (!running.empty()) {
    std::swap(running[random() % running.size()], running.back());
    const OpId done = running.back();
    running.pop_back();
    use -= granted(needs[plan[done].peer], memory);
    for (OpId next : plan.successors(done))
      if (--waiting[next] == 0) start(next);
  }
  return most;
}

TEST(InplacePlan, NeverUsesMoreThanItsMemory) {
  std::mt19937 random(2);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const auto p = static_cast<std::int32_t>(2 + random() % 40);
    const Case c = random_case(random, p);
    const auto plans = plans_of(c, SwapOrder::linear_shift);
    for (std::int32_t r = 0; r < p; ++r)
      for (int run = 0; run < 4; ++run)
        ASSERT_LE(most_in_use(plans[r], c.needs[r], c.memory[r], random),
                  std::max<std::uint64_t>(c.memory[r], 1));
  }
}

// before[b]: whether b waits for a, directly or not.
std::vector<std::vector<bool>> reach(const Plan& plan) {
  std::vector<std::vector<bool>> before(plan.size(), std::vector<bool>(plan.size(), false));
  for (OpId a = 0; a < plan.size(); ++a)
    for (OpId b : plan.successors(a)) {
      before[b][a] = true;
      for (OpId x = 0; x < a; ++x) before[b][x] = before[b][x] || before[a][x];
    }
  return before;
}

// The same for all orders of events at once: sets of swaps of which none waits for another, all of
// them, on small plans.
TEST(InplacePlan, NoSetOfSwapsThatCanRunTogetherUsesMore) {
  std::mt19937 random(3);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const auto p = static_cast<std::int32_t>(2 + random() % 9);
    const Case c = random_case(random, p);
    const Plan plan = plans_of(c, SwapOrder::hierarchical_sets)[0];
    const auto before = reach(plan);
    for (std::uint32_t set = 0; set < 1u << plan.size(); ++set) {
      std::uint64_t use = 0;
      bool together = true;
      for (OpId b = 0; b < plan.size(); ++b) {
        if (!(set >> b & 1)) continue;
        use += granted(c.needs[0][plan[b].peer], c.memory[0]);
        for (OpId a = 0; a < b; ++a) together = together && !((set >> a & 1) && before[b][a]);
      }
      ASSERT_LE(together ? use : 0, std::max<std::uint64_t>(c.memory[0], 1));
    }
  }
}

// "exactly as far as memory demands": with the swaps before it that it waits for in no way still
// running, one byte more than is free would not do.
TEST(InplacePlan, WaitsForNothingThatFits) {
  std::mt19937 random(4);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const auto p = static_cast<std::int32_t>(2 + random() % 30);
    const Case c = random_case(random, p);
    const Plan plan = plans_of(c, SwapOrder::linear_shift)[0];
    const std::uint64_t memory = std::max<std::uint64_t>(c.memory[0], 1);
    const auto memory_of = [&](OpId op) { return granted(c.needs[0][plan[op].peer], memory); };
    std::vector<OpId> newest_waited_for(plan.size(), ~OpId{0});
    for (OpId a = 0; a < plan.size(); ++a)
      for (OpId b : plan.successors(a)) newest_waited_for[b] = a;  // the last of ascending ones
    for (OpId b = 0; b < plan.size(); ++b) {
      if (newest_waited_for[b] == ~OpId{0}) continue;
      std::uint64_t together = 0;
      for (OpId a = newest_waited_for[b]; a <= b; ++a) together += memory_of(a);
      EXPECT_GT(together, memory) << "operation " << b << " could run with operation "
                                  << newest_waited_for[b];
    }
  }
}

Needs wanting(std::vector<std::uint64_t> memory) {
  Needs needs;
  for (std::uint64_t m : memory) needs.push_back({100, m});
  return needs;
}

std::vector<std::vector<OpId>> predecessors(const Plan& plan) {
  std::vector<std::vector<OpId>> found(plan.size());
  for (OpId a = 0; a < plan.size(); ++a)
    for (OpId b : plan.successors(a)) found[b].push_back(a);
  return found;
}

using Waits = std::vector<std::vector<OpId>>;

TEST(InplacePlan, MemoryDecidesHowManySwapsOverlap) {
  const Needs needs = wanting({0, 4, 4, 4, 4, 4});
  const Ranks peers{1, 2, 3, 4, 5};
  EXPECT_EQ(predecessors(plan_inplace(0, peers, needs, 20)), (Waits{{}, {}, {}, {}, {}}));
  EXPECT_EQ(predecessors(plan_inplace(0, peers, needs, 19)), (Waits{{}, {}, {}, {}, {0}}));
  EXPECT_EQ(predecessors(plan_inplace(0, peers, needs, 8)), (Waits{{}, {}, {0}, {1}, {2}}));
  EXPECT_EQ(predecessors(plan_inplace(0, peers, needs, 7)),
            (Waits{{}, {0}, {0, 1}, {1, 2}, {2, 3}}));
  for (std::uint64_t memory : {0, 1, 3, 4})
    EXPECT_EQ(predecessors(plan_inplace(0, peers, needs, memory)), (Waits{{}, {0}, {1}, {2}, {3}}))
        << memory;
}

// The third waits for the first alone, since the second still runs; so must the fourth, though the
// third is not complete: otherwise it would start before it.
TEST(InplacePlan, ASwapDoesNotTakeTheMemoryForWhichAnEarlierOneWaits) {
  EXPECT_EQ(predecessors(plan_inplace(0, Ranks{1, 2, 3}, wanting({0, 10, 5, 5}), 10)),
            (Waits{{}, {0}, {0}}));
  EXPECT_EQ(predecessors(plan_inplace(0, Ranks{1, 2, 3, 4}, wanting({0, 6, 4, 3, 3}), 10)),
            (Waits{{}, {}, {0}, {0}}));
}

TEST(InplacePlan, WhoWantsMoreGetsAllAndWhoWantsNothingNeverWaits) {
  const Needs needs = wanting({0, 2, 50, 0, 2});
  EXPECT_EQ(predecessors(plan_inplace(0, Ranks{1, 2, 3, 4}, needs, 10)), (Waits{{}, {0}, {}, {1}}));
  EXPECT_EQ(granted(needs[2], 10), 10u);
  EXPECT_EQ(granted(needs[1], 10), 2u);
  EXPECT_EQ(granted(needs[1], 0), 1u);
  EXPECT_EQ(granted(needs[3], 10), 0u);
}

TEST(InplacePlan, HugeNeedsDoNotOverflow) {
  const std::uint64_t huge = ~std::uint64_t{0};
  EXPECT_EQ(predecessors(plan_inplace(0, Ranks{1, 2, 3}, wanting({0, huge, huge, 1}), huge)),
            (Waits{{}, {0}, {1}}));
}

TEST(InplacePlan, HasFewDependencies) {
  constexpr std::int32_t p = 2000;
  std::mt19937 random(5);
  Needs needs;
  for (std::int32_t j = 0; j < p; ++j) needs.push_back({100, 1 + random() % 100});
  const Plan plan = plan_inplace(7, partners(SwapOrder::linear_shift, 7, p), needs, 50 * 1000);
  std::size_t edges = 0;
  for (OpId op = 0; op < plan.size(); ++op) edges += plan.successors(op).size();
  EXPECT_EQ(plan.size(), p - 1u);
  EXPECT_LT(edges, 3u * p);
  EXPECT_GT(edges, 0u);
}

TEST(InplacePlan, LeavesOutItselfAndEmptyBlocks) {
  Needs needs = wanting({4, 4, 4, 4});
  needs[3].bytes = 0;
  EXPECT_EQ(print(plan_inplace(1, partners(SwapOrder::mpich, 1, 4), needs, 4)),
            "round 1\n"
            "  swap with rank 0  r0  [1 block]\n"
            "round 2\n"
            "  swap with rank 2  r2  [1 block]\n");
  EXPECT_EQ(plan_inplace(0, partners(SwapOrder::mpich, 0, 1), Needs(1), 4).size(), 0u);
}

}  // namespace
}  // namespace tonari
