// SPDX-License-Identifier: BSD-3-Clause
// A new planner is one file, one row and one test: here are two that the library does not have, a
// row each, and the reference executor that proves them. Nothing else of the library is touched.
#include <gtest/gtest.h>

#include "planners/graphs/graphs.hpp"
#include "planners/offsets/cases.hpp"
#include "select/candidates.hpp"
#include "select/offset_planner_registry.hpp"
#include "support/grids.hpp"

namespace tonari {
namespace {

// For offsets: the last dimension first, straight to the coordinate.
Routing route_backwards(const Neighborhood& near) {
  Routing routing(near);
  std::map<std::pair<int, std::int32_t>, std::int32_t> steps;  // ascending, as paths must be
  const std::vector<Vec> offsets = routable_offsets(near);
  const int last = near.grid.dimensions() - 1;
  for (const Vec& offset : offsets)
    for (int j = last; j >= 0; --j)
      if (offset[j] != 0) steps.try_emplace({last - j, offset[j]}, 0);
  for (auto& [key, number] : steps) {
    Vec step;
    step[last - key.first] = key.second;
    number = routing.add_step(step);
  }
  for (const Vec& offset : offsets) {
    for (int j = last; j >= 0; --j)
      if (offset[j] != 0) routing.hop(steps.at({last - j, offset[j]}));
    routing.end_path();
  }
  return routing;
}

std::vector<OffsetVariant> backwards(std::shared_ptr<const Neighborhood> near,
                                     Collective collective) {
  const Routing routing = route_backwards(*near);
  return {
      {"backwards", "", near, collective, routing.steps().size(), routing.hops(), route_backwards}};
}

std::string always(const Neighborhood&, Collective) { return ""; }
const OffsetPlanner offset_backwards{"backwards", always, backwards};

// For graphs: what linear does, but in rounds.
std::vector<GraphVariant> in_rounds(BspComm& bsp, std::span<const Vertex> vertices,
                                    const GraphFacts& facts, const GraphTask& task);
std::string always_on_graphs(const GraphFacts&, const GraphTask&) { return ""; }
const GraphPlanner graph_in_rounds{"in-rounds", always_on_graphs, in_rounds};

std::vector<GraphVariant> in_rounds(BspComm& bsp, std::span<const Vertex> vertices,
                                    const GraphFacts& facts, const GraphTask& task) {
  const std::vector<GraphVariant> linear = graph_linear.variants(bsp, vertices, facts, task);
  return {{graph_in_rounds, "", vertices, task, linear.front().relays(), 1}};
}

const AlgorithmRow rows[] = {
    {"linear", "", "straight", "Träff 2016", "", &offset_linear, &graph_linear},
    {"backwards", "forwards", "the last dimension first", "", "", &offset_backwards},
    {"in-rounds", "", "straight, in rounds", "", "", nullptr, &graph_in_rounds}};

constexpr Channel channel{.name = "only",
                          .help = "all messages",
                          .carries = Carries::plan,
                          .price = [](const Offer& offer, const std::string&) {
                            return price(*offer.variant, offer.problem.sizes, offer.machine, {});
                          }};
constexpr const Channel* channels[] = {&channel};

TEST(NewPlanner, ForOffsetsIsFoundByItsRowAndProven) {
  EXPECT_EQ(algorithm_names(AppliesTo::offsets, rows),
            (std::vector<std::string>{"linear", "backwards"}));
  EXPECT_EQ(find_algorithm("forwards", AppliesTo::offsets, rows).offsets, &offset_backwards);
  test::Random random(5);
  for (int k = 0; k < 50; ++k) {
    const Grid grid = test::random_grid(random, random.between(1, 3), 60);
    const auto near = std::make_shared<const Neighborhood>(
        Neighborhood{grid, test::random_offsets(random, grid, 10)});
    OffsetPlannerRegistry registry(near, rows);
    for (Collective collective : {Collective::alltoall, Collective::allgather}) {
      std::string reason;
      const auto variants = registry.variants("backwards", collective, 8, std::nullopt, reason);
      ASSERT_EQ(variants.size(), 1u) << reason;
      std::vector<Plan> plans;
      for (int rank = 0; rank < grid.ranks(); ++rank) plans.push_back(variants[0]->plan(rank));
      const bool alltoall = collective == Collective::alltoall;
      const std::vector<std::uint64_t> bytes(alltoall ? near->offsets.size() : 1, 3);
      const Proof proof = prove(plans, expected_delivery(*near, collective, bytes));
      ASSERT_TRUE(proof) << test::describe(*near) << ": " << proof.what;
    }
  }
}

TEST(NewPlanner, IsOfferedAndPricedBesideTheOthers) {
  const auto near = std::make_shared<const Neighborhood>(
      Neighborhood{test::torus({5, 5}), {Vec{1, 1}, Vec{1, 0}, Vec{0, 1}}});
  OffsetPlannerRegistry registry(near, rows);
  const Problem problem{.planners = registry,
                        .fingerprint = 1,
                        .neighbors = 3,
                        .collective = Collective::alltoall,
                        .sizes = {{8, 8, 8}, 8},
                        .channels = channels};
  Settings settings;
  settings.algorithm = "backwards";
  const std::vector<Candidate> found = enumerate(problem, settings, LogGP{});
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().algorithm(), "backwards");
  EXPECT_GT(found.front().predicted, 0);
}

TEST(NewPlanner, ForGraphsIsFoundByItsRowAndProven) {
  EXPECT_EQ(find_algorithm("in-rounds", AppliesTo::graphs, rows).graphs, &graph_in_rounds);
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const std::vector<Vertex> vertices = graphs::any_graph(random);
    for (Collective collective : {Collective::alltoall, Collective::allgather})
      graphs::expect_proven(graph_in_rounds, vertices, {collective, 8, {}}, seed);
  }
}

}  // namespace
}  // namespace tonari
