// SPDX-License-Identifier: BSD-3-Clause
// Every point on the front of balanced, and Phase I of message sharing alone, by name: what `tonari
// share` counts also runs.
#include <algorithm>

#include "planners/graphs/graphs.hpp"
#include "planners/graphs/planning_root.hpp"
#include "planners/graphs/spread.hpp"
#include "planners/patterns/balance_name.hpp"
#include "planners/patterns/message_sharing.hpp"
#include "planners/patterns/within_words.hpp"
#include "support/errors.hpp"
#include "support/random_cases.hpp"

namespace tonari {
namespace {

using namespace graphs;

const char* const front_points[] = {"2 stages",         "3 stages",
                                    "4 stages price 5", "2 stages price 5 words 1.25",
                                    "5 stages",         "6 stages price 2.5 words 2",
                                    "7 stages price 0", "8 stages words 3",
                                    "words 1",          "words 1.5"};

GraphTask named(Collective collective, const std::string& variant, double bytes = 8) {
  return {collective, bytes, {}, true, variant};
}

// Blocks of 1 to 4096 bytes, or all of 8.
std::vector<Vertex> weighted_edges(std::vector<Vertex> vertices, bool alike) {
  for (Vertex& v : vertices)
    for (std::int32_t target : v.targets)
      v.bytes.push_back(alike ? 8 : std::uint64_t{1} << (7 * v.rank + 5 * target + 65) % 13);
  return vertices;
}

std::vector<GraphVariant> plan_point(const GraphPlanner& planner,
                                     const std::vector<Vertex>& vertices, const GraphTask& task) {
  LocalBspComm bsp(static_cast<int>(vertices.size()));
  return planner.variants(bsp, vertices, gather_facts(bsp, vertices), task);
}

// A few ranks write to most others, the others to few.
std::vector<Vertex> busy_graph(std::mt19937& random, int ranks) {
  Edges edges = erdos_renyi(ranks, 0.1, random);
  for (int hub = 0; hub < ranks; hub += 7)
    for (int r = 0; r < ranks; ++r)
      if (r != hub && random() % 3) edges.emplace_back(hub, r);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return make(ranks, edges);
}

CommunicationMatrix matrix_in_bytes(const std::vector<Vertex>& vertices) {
  std::vector<Flow> flows;
  for (const Vertex& v : vertices)
    for (std::size_t i = 0; i < v.targets.size(); ++i)
      flows.push_back({v.rank, v.targets[i], v.bytes[i]});
  return CommunicationMatrix(static_cast<int>(vertices.size()), flows);
}

TEST(NamedBalance, EveryPointIsProvenOnAnyGraph) {
  std::mt19937 random(41);
  for (unsigned seed = 0; seed < test::random_cases(30u) && !HasFailure(); ++seed) {
    const std::vector<Vertex> plain = any_graph(random, 24), heavy = weighted_edges(plain, false);
    for (Collective collective : {Collective::alltoall, Collective::allgather})
      for (const char* point : front_points)
        expect_proven(graph_balanced, seed % 2 ? plain : heavy, named(collective, point), seed);
  }
}

TEST(NamedBalance, EveryPointIsProvenOnFewRanks) {
  for (int ranks = 1; ranks <= 5; ++ranks)
    for (const char* point : front_points)
      for (Collective collective : {Collective::alltoall, Collective::allgather}) {
        expect_proven(graph_balanced, make(ranks, {}), named(collective, point), 1);
        expect_proven(graph_balanced, make(ranks, complete(ranks)), named(collective, point), 1);
      }
}

TEST(NamedBalance, DoesNotDependOnProcesses) {
  std::mt19937 random(42);
  for (const char* point : front_points)
    expect_same_however_spread(graph_balanced, weighted_edges(busy_graph(random, 20), false),
                               named(Collective::alltoall, point), random);
}

void expect_as_counted(const std::vector<Vertex>& vertices, const std::string& point) {
  SCOPED_TRACE(point);
  const CommunicationMatrix matrix = matrix_in_bytes(vertices);
  const ScheduleMetrics counted =
      front_point(matrix, balance_named(point), priced_word_bytes).metrics(matrix);
  std::vector<GraphVariant> ways =
      plan_point(graph_balanced, vertices, named(Collective::alltoall, point));
  ASSERT_EQ(ways.size(), 1u);
  EXPECT_EQ(ways[0].variant(), point);
  LocalBspComm bsp(static_cast<int>(vertices.size()));
  ways[0].gather(bsp);
  EXPECT_EQ(ways[0].traffic().most_out, counted.most_sent);
  EXPECT_EQ(ways[0].traffic().most_in, counted.most_received);
  EXPECT_EQ(ways[0].traffic().stages, counted.stages);
  EXPECT_NEAR(static_cast<double>(ways[0].volumes()->total),
              counted.words * static_cast<double>(matrix.statistics().words), 0.5);
}

// The root knows the bytes of every block: it plans what `tonari share` counts.
TEST(NamedBalance, RunsWhatIsCounted) {
  std::mt19937 random(43);
  for (int k = 0; k < 4; ++k) {
    const std::vector<Vertex> graph = busy_graph(random, 48);
    for (const char* point : front_points) {
      expect_as_counted(weighted_edges(graph, false), point);
      expect_as_counted(weighted_edges(graph, true), point);
    }
  }
}

// Nearly all pairs of ranks.
std::vector<Vertex> near_dense(std::mt19937& random, int ranks) {
  return make(ranks, erdos_renyi(ranks, 0.9, random));
}

// `tonari share` counts in words of 8 bytes, and a root in bytes.
TEST(NamedBalance, BytesMakeTheScheduleThatWordsMake) {
  std::mt19937 random(47);
  for (const std::vector<Vertex>& graph : {busy_graph(random, 40), near_dense(random, 40)}) {
    std::vector<Flow> words, bytes;
    for (const Vertex& v : graph)
      for (const std::int32_t target : v.targets) {
        const std::uint64_t some = random() % 30;
        words.push_back({v.rank, target, some});
        bytes.push_back({v.rank, target, 8 * some});
      }
    const CommunicationMatrix in_words(40, words), in_bytes(40, bytes);
    for (const char* point : front_points) {
      const BalanceOptions options = balance_named(point);
      EXPECT_EQ(schedule_text(in_words, front_point(in_words, options)),
                schedule_text(in_bytes, front_point(in_bytes, options, priced_word_bytes)))
          << point;
    }
  }
}

// Above most_root_blocks a plan is made at one rank where it is asked for by name, and only there.
TEST(NamedBalance, LargePatternsRunByName) {
  std::mt19937 random(48);
  const std::vector<Vertex> graph = weighted_edges(near_dense(random, 400), false);
  LocalBspComm bsp(400);
  ASSERT_GT(gather_facts(bsp, graph).edges, most_root_blocks);
  expect_as_counted(graph, "2 stages");
  expect_proven(graph_balanced, graph, named(Collective::alltoall, "2 stages"), 48);
  for (const GraphPlanner* planner : {&graph_balanced, &graph_message_sharing}) {
    GraphFacts facts;
    facts.edges = most_root_blocks + 1;
    EXPECT_FALSE(fits_a_root(facts));
    EXPECT_TRUE(fits_a_root(facts, Asked::by_name));
    const std::vector<Vertex> few = weighted_edges(busy_graph(random, 20), false);
    LocalBspComm few_bsp(20);
    facts = gather_facts(few_bsp, few);
    facts.edges = most_root_blocks + 1;
    const auto makes_whole = [&](const char* variant) {
      const auto all = planner->variants(few_bsp, few, facts, named(Collective::alltoall, variant));
      return std::any_of(all.begin(), all.end(), [](const GraphVariant& v) {
        return v.variant().starts_with("whole pattern");
      });
    };
    EXPECT_FALSE(makes_whole("")) << planner->name;
    EXPECT_TRUE(makes_whole("whole pattern")) << planner->name;
  }
}

// Without bytes, of blocks that have 8 of them on average, a price in words is one in blocks.
TEST(NamedBalance, WithoutBytesBlocksAreAlike) {
  std::mt19937 random(44);
  const std::vector<Vertex> graph = busy_graph(random, 48);
  for (const char* point : front_points)
    EXPECT_EQ(
        plan_point(graph_balanced, graph, named(Collective::alltoall, point))[0].relays()[0].out,
        plan_point(graph_balanced, weighted_edges(graph, true),
                   named(Collective::alltoall, point))[0]
            .relays()[0]
            .out)
        << point;
}

TEST(NamedBalance, MoreStagesTakeFewerMessages) {
  std::mt19937 random(45);
  const std::vector<Vertex> graph = busy_graph(random, 200);
  std::int64_t most[2];
  for (int k : {0, 1}) {
    std::vector<GraphVariant> ways =
        plan_point(graph_balanced, graph, named(Collective::alltoall, k ? "4 stages" : "2 stages"));
    LocalBspComm bsp(200);
    most[k] = gather_traffic(bsp, ways[0].relays()).most_out;
  }
  EXPECT_LT(most[1], most[0]);
}

TEST(NamedBalance, NamesThatAreNoneSaySo) {
  for (const char* wrong : {"1 stages",
                            "9 stages",
                            "3",
                            "3 ",
                            "3 stage",
                            "3 stages ",
                            "03 stages",
                            "3 stages price",
                            "3 stages price x",
                            "3 stages price -1",
                            "3 stages price nan",
                            "3 stages words 0.5",
                            "3 stages words 2 price 5",
                            "3 stages price 5 price 6",
                            "3 stages price 5 words 2 words 2",
                            "3 stages words 2 words 2",
                            "3 stages price 1e5",
                            "3  stages",
                            "words",
                            "words x",
                            "words 0.5",
                            "words 2 price 5",
                            "words 2 words 2",
                            "words nan"}) {
    EXPECT_TRUE(names_a_balance(wrong)) << wrong;
    test::expect_sentence(test::error_of([&] { balance_named(wrong); }), Errc::algorithm,
                          {"there is no algorithm 'balanced/", wrong, "'2 stages' to '8 stages'"});
  }
  EXPECT_FALSE(names_a_balance("both ends"));
  EXPECT_FALSE(names_a_balance(""));
  const BalanceOptions options = balance_named("6 stages price 2.5 words 1.5");
  EXPECT_EQ(options.stages, 6);
  EXPECT_EQ(options.price, 2.5);
  EXPECT_EQ(options.words, 1.5);
  EXPECT_EQ(balance_named("words 1.25").stages, any_stages);
  EXPECT_EQ(balance_named("words 1.25").words, 1.25);
}

TEST(NamedBalance, APatternThatIsTooLargeSaysSo) {
  const std::vector<Vertex> vertices = make(2, {{0, 1}});
  LocalBspComm bsp(2);
  GraphFacts facts = gather_facts(bsp, vertices);
  facts.edges = most_named_blocks + 1;
  const Error error = test::error_of([&] {
    graph_balanced.variants(bsp, vertices, facts, named(Collective::alltoall, "3 stages"));
  });
  test::expect_sentence(error, Errc::algorithm,
                        {"balanced/3 stages cannot be used here", "1048576 blocks", "1048577"});
}

TEST(NamedSharing, PhaseOneRunsAlone) {
  std::mt19937 random(46);
  for (unsigned seed = 0; seed < 6 && !HasFailure(); ++seed) {
    const std::vector<Vertex> vertices = weighted_edges(busy_graph(random, 40), true);
    const GraphTask task = named(Collective::alltoall, "whole pattern phase I");
    expect_proven(graph_message_sharing, vertices, task, seed);
    const CommunicationMatrix matrix = matrix_in_bytes(vertices);
    const ScheduleMetrics counted = combine(matrix, share_messages(matrix, 1)).metrics(matrix);
    const std::vector<GraphVariant> ways = plan_point(graph_message_sharing, vertices, task);
    LocalBspComm bsp(40);
    EXPECT_EQ(ways.back().variant(), task.variant);
    EXPECT_EQ(gather_traffic(bsp, ways.back().relays()).most_out, counted.most_sent);
  }
}

}  // namespace
}  // namespace tonari
