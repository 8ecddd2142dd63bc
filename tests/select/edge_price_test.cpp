// SPDX-License-Identifier: BSD-3-Clause
// Where sizes differ between ranks, each prices its own edges, and the heaviest counts: against the
// simulation of all ranks with all sizes.
#include "select/edge_price.hpp"

#include <gtest/gtest.h>

#include "analysis/plan_bytes.hpp"
#include "cost/simulator.hpp"
#include "planners/graphs/graphs.hpp"
#include "select/graph_planner_registry.hpp"
#include "select/offset_planner_registry.hpp"
#include "select/price.hpp"
#include "support/grids.hpp"

namespace tonari {
namespace {

LogGP network() {
  LogGP m;
  m.L = 1e-6, m.o = m.g = 1e-6, m.G = 1e-9, m.copy_byte = 1e-10;
  return m;
}

// A graph whose blocks have the sizes bytes(from, to).
struct Sized {
  template <class Size>
  Sized(std::vector<Vertex> all, Size bytes) : vertices(std::move(all)), known(vertices) {
    for (Vertex& v : known)
      for (std::int32_t target : v.targets) v.bytes.push_back(bytes(v.rank, target));
  }

  EdgeSizes of(std::size_t r) const {
    EdgeSizes mine{&vertices[r], known[r].bytes, {}};
    for (std::size_t j = 0; j < vertices[r].sources.size(); ++j)
      mine.recv.push_back(
          known[static_cast<std::size_t>(vertices[r].sources[j])].bytes[vertices[r].origins[j]]);
    return mine;
  }
  // What ranks agree on (neighborhood/sizes.cpp).
  double heaviest_load() const {
    double load = 0, blocks = 0;
    for (std::size_t r = 0; r < vertices.size(); ++r) {
      const EdgeSizes mine = of(r);
      for (const std::vector<Bytes>* side : {&mine.send, &mine.recv}) {
        load = std::max(load, std::accumulate(side->begin(), side->end(), 0.0));
        blocks = std::max(blocks, static_cast<double>(side->size()));
      }
    }
    return load / blocks;
  }
  // The largest mean of a rank, by which prices went before.
  double largest_mean() const {
    double largest = 0;
    for (const Vertex& v : known)
      if (!v.bytes.empty())
        largest = std::max(largest, std::accumulate(v.bytes.begin(), v.bytes.end(), 0.0) /
                                        static_cast<double>(v.bytes.size()));
    return largest;
  }

  double by_edges(const Variant& variant) const {
    double heaviest = 0;
    for (std::size_t r = 0; r < vertices.size(); ++r) {
      const Sizes sizes{{}, heaviest_load(), std::make_shared<const EdgeSizes>(of(r))};
      heaviest = std::max(heaviest, price(variant, sizes, network(), {}));
    }
    return heaviest;
  }
  double by_average(const Variant& variant) const {
    return price(variant, {{}, largest_mean()}, network(), {});
  }
  double truth(const Variant& variant) const {
    std::vector<Plan> plans;
    for (std::size_t r = 0; r < vertices.size(); ++r)
      plans.push_back(variant.plan(static_cast<int>(r)));
    const std::vector<BlockBytes> bytes = plan_bytes(known, Collective::alltoall, plans);
    return simulate(plans, bytes, network(), {});
  }

  std::vector<Vertex> vertices;  // as planners see them
  std::vector<Vertex> known;     // with the sizes
};

class Planned {
 public:
  explicit Planned(const std::vector<Vertex>& vertices)
      : bsp_(static_cast<int>(vertices.size())),
        facts_(gather_facts(bsp_, vertices)),
        registry_(bsp_, vertices, facts_, network) {}
  std::vector<VariantPtr> all(double block_bytes) {
    std::vector<VariantPtr> found;
    std::string reason;
    for (const std::string& algorithm : registry_.algorithms())
      for (const VariantPtr& variant :
           registry_.variants(algorithm, Collective::alltoall, block_bytes, std::nullopt, reason))
        found.push_back(variant);
    return found;
  }

 private:
  LocalBspComm bsp_;
  GraphFacts facts_;
  GraphPlannerRegistry registry_;
};

template <class Price>
VariantPtr cheapest(const std::vector<VariantPtr>& all, Price price) {
  return *std::ranges::min_element(all, {}, [&](const VariantPtr& v) { return price(*v); });
}

// Rank 0 has one edge, with a long block. The others have very many short ones.
Sized one_long_block(int ranks, Bytes bytes) {
  graphs::Edges edges{{0, 1}};
  for (int a = 1; a < ranks; ++a)
    for (int b = 1; b < ranks; ++b)
      if (a != b) edges.emplace_back(a, b);
  return {graphs::make(ranks, edges),
          [bytes](int from, int) { return from == 0 ? bytes : Bytes{8}; }};
}

// An average of 20,000 bytes would make every way of combining cost more than it saves.
TEST(EdgePrice, OneLongBlockDoesNotStandForAll) {
  const Sized graph = one_long_block(32, 20000);
  Planned planned(graph.vertices);
  const auto before = planned.all(graph.largest_mean()), now = planned.all(graph.heaviest_load());
  const VariantPtr by_average =
      cheapest(before, [&](const Variant& v) { return graph.by_average(v); });
  const VariantPtr by_edges = cheapest(now, [&](const Variant& v) { return graph.by_edges(v); });
  const VariantPtr best = cheapest(now, [&](const Variant& v) { return graph.truth(v); });
  EXPECT_EQ(by_average->algorithm(), "linear") << by_average->label();
  EXPECT_EQ(by_edges->label(), best->label()) << "of all, this one takes the least time";
  EXPECT_LT(graph.truth(*by_edges), 0.9 * graph.truth(*by_average)) << by_edges->label();
}

// The same where both prices look at the same plans: within a factor of 2 of what takes place, and
// the average is not.
TEST(EdgePrice, IsNearTheTruthWhereTheAverageIsFar) {
  const Sized graph = one_long_block(28, 200000);
  Planned planned(graph.vertices);
  for (const VariantPtr& variant : planned.all(graph.heaviest_load())) {
    const double truth = graph.truth(*variant), edges = graph.by_edges(*variant);
    EXPECT_LT(edges, 2 * truth) << variant->label();
    EXPECT_LT(truth, 2.5 * edges) << variant->label();
    EXPECT_GT(graph.by_average(*variant), 5 * truth) << variant->label();
  }
}

// Whoever sends a long block over others adds what these take for it.
TEST(EdgePrice, LongBlocksArePricedOnTheirWay) {
  const Sized graph = one_long_block(5, 1'000'000);
  std::vector<Relay> straight(5), over(5);
  straight[0].out = {{0, 1, {0, 0}}};
  straight[1].in = {{0, 0, {0, 0}}};
  over[0].out = {{0, 2, {0, 0}}};
  over[2].in = {{0, 0, {0, 0}}};
  over[2].out = {{1, 1, {0, 0}}};
  over[1].in = {{1, 2, {0, 0}}};
  const auto variant = [&](const std::vector<Relay>& relays) {
    LocalBspComm bsp(5);
    GraphVariant made(graph_linear, "", graph.vertices, {Collective::alltoall, 8, network()},
                      relays);
    made.gather(bsp);
    return made;
  };
  EXPECT_NEAR(graph.by_edges(variant(straight)), 1e-3, 1e-4) << "a block crosses one wire";
  EXPECT_NEAR(graph.by_edges(variant(over)), 2e-3, 3e-4) << "and here two";
}

// Where all ranks have the same edges and sizes, edges say what traffic says.
TEST(EdgePrice, IsThatOfTrafficWhereSizesAreEqual) {
  graphs::Edges edges;
  for (int r = 0; r < 16; ++r)
    for (const int step : {1, 2, 3, 5, 7}) edges.emplace_back(r, (r + step) % 16);
  for (const Bytes bytes : {Bytes{0}, Bytes{8}, Bytes{5000}, Bytes{100000}}) {
    const Sized graph(graphs::make(16, edges), [bytes](int, int) { return bytes; });
    Planned planned(graph.vertices);
    for (const VariantPtr& variant : planned.all(static_cast<double>(bytes)))
      if (variant->algorithm() == "linear") {
        EXPECT_NEAR(graph.by_edges(*variant), graph.by_average(*variant), 1e-12) << bytes;
      }
  }
}

// On a grid, too: rank by rank, what it has to move itself.
TEST(EdgePrice, OfOffsetsIsThatOfTheOwnBlocks) {
  auto near = std::make_shared<const Neighborhood>(
      Neighborhood{test::torus({8, 8}), {{0, 1}, {1, 0}, {1, 1}, {0, -1}}});
  OffsetPlannerRegistry registry(near);
  std::string reason;
  const VariantPtr linear =
      registry.variants("linear", Collective::alltoall, 8, std::nullopt, reason).front();
  Vertex vertex;
  vertex.targets = vertex.sources = {1, 2, 3, 4};
  const auto cost = [&](std::vector<Bytes> send, std::vector<Bytes> recv) {
    const auto mine =
        std::make_shared<const EdgeSizes>(EdgeSizes{&vertex, std::move(send), std::move(recv)});
    return price(*linear, {{}, 1e6, mine}, network(), {});
  };
  const double none = cost({8, 8, 8, 8}, {8, 8, 8, 8});
  EXPECT_NEAR(none, price(*linear, {{8, 8, 8, 8}, 8}, network(), {}), 1e-12);
  EXPECT_GT(cost({8, 100000, 8, 8}, {8, 8, 8, 8}), none + 9e-5);
  EXPECT_LT(cost({8, 100000, 8, 8}, {8, 8, 8, 8}), none + 3e-4) << "not four of them";
}

}  // namespace
}  // namespace tonari
