// SPDX-License-Identifier: BSD-3-Clause
// Schedules from files run on any graph, and what ranks check one by one proves all of them.
#include "planners/graphs/scheduled.hpp"

#include "planners/graphs/spread.hpp"
#include "planners/patterns/balanced.hpp"
#include "planners/patterns/message_sharing.hpp"
#include "planners/patterns/routes.hpp"
#include "planners/patterns/schedule_text.hpp"
#include "planners/patterns/store_and_forward.hpp"
#include "planners/patterns/within_words.hpp"
#include "support/errors.hpp"
#include "support/random_cases.hpp"

namespace tonari {
namespace {

using namespace graphs;

constexpr Collective both_kinds[] = {Collective::alltoall, Collective::allgather};

CommunicationMatrix matrix_of(const std::vector<Vertex>& vertices) {
  std::vector<Flow> flows;
  for (const Vertex& v : vertices)
    for (const std::int32_t target : v.targets)
      if (target >= 0) flows.push_back({v.rank, target, 1});
  return CommunicationMatrix(static_cast<int>(vertices.size()), flows);
}

CommunicationMatrix with_words_of_one(const CommunicationMatrix& matrix) {
  std::vector<Flow> flows;
  for (BlockNumber b = 0; b < matrix.blocks(); ++b)
    flows.push_back({matrix.origin(b), matrix.target(b), 1});
  return {matrix.ranks(), flows};
}

std::vector<MessageSchedule> schedules_for(const CommunicationMatrix& matrix) {
  std::vector<MessageSchedule> all{direct_schedule(matrix)};
  for (int n = 2; n <= most_dimensions(matrix.ranks()); ++n)
    all.push_back(store_and_forward(matrix, n));
  for (const int phases : {1, 2}) all.push_back(combine(matrix, share_messages(matrix, phases)));
  for (const int stages : {2, 3, 5}) all.push_back(balanced(matrix, {stages}));
  all.push_back(within_words(matrix, 1.5));
  return all;
}

std::vector<OwnSchedule> parts_of(const std::string& text, int ranks) {
  std::vector<OwnSchedule> own;
  for (int rank = 0; rank < ranks; ++rank) own.push_back(test::read_text(text, rank, ranks));
  return own;
}

std::vector<OwnSchedule> checked_parts(const std::vector<Vertex>& vertices,
                                       const std::string& text) {
  std::vector<OwnSchedule> own = parts_of(text, static_cast<int>(vertices.size()));
  for (std::size_t r = 0; r < own.size(); ++r) check_schedule(vertices[r], own[r], "s.txt");
  return own;
}

void expect_runs(const std::vector<Vertex>& vertices, const CommunicationMatrix& matrix,
                 const MessageSchedule& schedule, unsigned seed) {
  const std::vector<OwnSchedule> own = checked_parts(vertices, schedule_text(matrix, schedule));
  const ScheduleMetrics counted = schedule.metrics(matrix);
  for (const Collective collective : both_kinds) {
    LocalBspComm bsp(static_cast<int>(vertices.size()));
    GraphVariant variant = scheduled_variant(bsp, vertices, own, collective);
    variant.gather(bsp);
    const Proof proof = prove(plans(vertices, collective, variant),
                              expected_delivery(vertices, collective, odd_bytes), seed);
    ASSERT_TRUE(proof) << name(collective) << ", seed " << seed << ": " << proof.what;
    if (collective == Collective::allgather) {
      EXPECT_LE(variant.traffic().most_out, counted.most_sent);
      continue;
    }
    EXPECT_EQ(variant.traffic().most_out, counted.most_sent);
    EXPECT_EQ(variant.traffic().most_in, counted.most_received);
    EXPECT_EQ(variant.traffic().stages, counted.stages);
  }
}

TEST(Scheduled, EverySchemeIsProvenOnAnyGraph) {
  std::mt19937 random(71);
  for (unsigned seed = 0; seed < test::random_cases(30u) && !testing::Test::HasFailure(); ++seed) {
    const std::vector<Vertex> vertices = any_graph(random, 24);
    const CommunicationMatrix matrix = matrix_of(vertices);
    for (const MessageSchedule& schedule : schedules_for(matrix))
      expect_runs(vertices, matrix, schedule, seed);
  }
}

TEST(Scheduled, EverySchemeIsProvenOnFewRanks) {
  for (int ranks = 1; ranks <= 5; ++ranks)
    for (const Edges& edges : {Edges{}, complete(ranks)}) {
      const std::vector<Vertex> vertices = make(ranks, edges);
      const CommunicationMatrix matrix = matrix_of(vertices);
      for (const MessageSchedule& schedule : schedules_for(matrix))
        expect_runs(vertices, matrix, schedule, 1);
    }
}

std::vector<Hop> sorted(std::vector<Hop> hops) {
  std::sort(hops.begin(), hops.end());
  return hops;
}

// The slow way is that of a planning root, which sees everything at once. For it, all edges of a
// pair are one block in an allgather.
TEST(Scheduled, RunsWhatAPlanningRootPlans) {
  std::mt19937 random(72);
  for (unsigned seed = 0; seed < test::random_cases(20u); ++seed) {
    const std::vector<Vertex> vertices = any_graph(random, 24);
    for (const Collective collective : both_kinds) {
      const CommunicationMatrix matrix = collective == Collective::alltoall
                                             ? matrix_of(vertices)
                                             : with_words_of_one(matrix_of(vertices));
      const std::vector<OwnSchedule> own =
          checked_parts(vertices, schedule_text(matrix, balanced(matrix, {3})));
      LocalBspComm bsp(static_cast<int>(vertices.size()));
      const GraphVariant read = scheduled_variant(bsp, vertices, own, collective);
      const std::vector<GraphVariant> planned =
          find_graph_planner("balanced")
              .variants(bsp, vertices, gather_facts(bsp, vertices),
                        {collective, 8, {}, true, "3 stages"});
      for (std::size_t r = 0; r < vertices.size(); ++r) {
        EXPECT_EQ(sorted(read.relays()[r].out), sorted(planned[0].relays()[r].out));
        EXPECT_EQ(sorted(read.relays()[r].in), sorted(planned[0].relays()[r].in));
      }
    }
  }
}

TEST(Scheduled, DoesNotDependOnProcesses) {
  std::mt19937 random(73);
  for (int k = 0; k < 10; ++k) {
    const std::vector<Vertex> vertices = any_graph(random, 24);
    const CommunicationMatrix matrix = matrix_of(vertices);
    const std::vector<OwnSchedule> own =
        checked_parts(vertices, schedule_text(matrix, balanced(matrix, {4})));
    for (const Collective collective : both_kinds) {
      LocalBspComm all(static_cast<int>(vertices.size()));
      const GraphVariant together = scheduled_variant(all, vertices, own, collective);
      run_spread(vertices.size(), random, [&](BspComm& bsp) {
        const std::vector<Vertex> here = own_vertices(bsp, vertices);
        std::vector<OwnSchedule> parts;
        for (const Vertex& v : here) parts.push_back(own[static_cast<std::size_t>(v.rank)]);
        const GraphVariant apart = scheduled_variant(bsp, here, parts, collective);
        for (std::size_t k = 0; k < here.size(); ++k) {
          const Relay& same = together.relays()[static_cast<std::size_t>(here[k].rank)];
          EXPECT_EQ(apart.relays()[k].out, same.out);
          EXPECT_EQ(apart.relays()[k].in, same.in);
        }
      });
    }
  }
}

// Follows every block through the whole schedule, which no rank can.
bool delivers(const CommunicationMatrix& matrix, const std::set<PairHop>& hops) {
  struct Place {
    std::int32_t rank, stage;
    std::set<std::int32_t> passed;
  };
  std::map<std::pair<std::int32_t, std::int32_t>, Place> at;
  for (BlockNumber b = 0; b < matrix.blocks(); ++b)
    at[{matrix.origin(b), matrix.target(b)}] = {matrix.origin(b), -1, {matrix.origin(b)}};
  for (const PairHop& hop : hops) {
    const auto place = at.find({hop.origin, hop.target});
    if (place == at.end() || place->second.rank != hop.from || place->second.stage >= hop.stage ||
        hop.from == hop.target || !place->second.passed.insert(hop.to).second)
      return false;
    place->second.rank = hop.to, place->second.stage = hop.stage;
  }
  return std::ranges::all_of(
      at, [](const auto& block) { return block.second.rank == block.first.second; });
}

bool all_ranks_take(const std::vector<Vertex>& vertices, const std::set<PairHop>& hops) {
  const Error error = test::error_of(
      [&] { checked_parts(vertices, test::text_of(static_cast<int>(vertices.size()), hops)); });
  EXPECT_TRUE(error.code() == Errc::success || error.code() == Errc::file) << error.what();
  return error.code() == Errc::success;
}

PairHop changed(PairHop hop, int ranks, std::mt19937& random) {
  std::int32_t* const members[] = {&hop.stage, &hop.from, &hop.to, &hop.origin, &hop.target};
  *members[random() % 5] = static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks));
  return hop;
}

TEST(Scheduled, RanksTogetherRefuseWhatDoesNotDeliver) {
  std::mt19937 random(74);
  int right = 0, wrong = 0;
  for (unsigned k = 0; k < test::random_cases(300u) && !testing::Test::HasFailure(); ++k) {
    const std::vector<Vertex> vertices = any_graph(random, 12);
    const CommunicationMatrix matrix = matrix_of(vertices);
    const std::vector<PairHop> list = test::hops_of(matrix, balanced(matrix, {3}));
    std::set<PairHop> hops(list.begin(), list.end());
    for (unsigned changes = random() % 3; changes > 0 && !hops.empty(); --changes) {
      const auto hop = std::next(hops.begin(), static_cast<long>(random() % hops.size()));
      const PairHop other = changed(*hop, matrix.ranks(), random);
      if (random() % 2) hops.erase(hop);
      if (random() % 4) hops.insert(other);
    }
    const bool delivered = delivers(matrix, hops);
    (delivered ? right : wrong)++;
    EXPECT_EQ(all_ranks_take(vertices, hops), delivered) << test::text_of(matrix.ranks(), hops);
  }
  EXPECT_GT(right, 20);
  EXPECT_GT(wrong, 20);
}

TEST(Scheduled, EveryMessageIsNeeded) {
  std::mt19937 random(75);
  const std::vector<Vertex> vertices = make(16, erdos_renyi(16, 0.5, random));
  const CommunicationMatrix matrix = matrix_of(vertices);
  for (const MessageSchedule& schedule : schedules_for(matrix)) {
    const std::vector<PairHop> hops = test::hops_of(matrix, schedule);
    ASSERT_TRUE(all_ranks_take(vertices, {hops.begin(), hops.end()}));
    for (const CombinedMessage& m : schedule.messages()) {
      std::set<PairHop> fewer(hops.begin(), hops.end());
      std::erase_if(fewer, [&](const PairHop& hop) {
        return hop.stage == m.stage && hop.from == m.from && hop.to == m.to;
      });
      EXPECT_FALSE(all_ranks_take(vertices, fewer));
    }
  }
}

struct Mistake {
  std::set<PairHop> hops;
  int rank;  // that sees it
  const char* sentence;
};

// 0 and 1 send to 2 and to each other.
TEST(Scheduled, ASentenceNamesTheRankAndTheBlock) {
  const std::vector<Vertex> vertices = make(4, {{0, 1}, {0, 2}, {1, 0}, {1, 2}});
  const PairHop a{0, 0, 1, 0, 1}, b{0, 1, 0, 1, 0}, c{0, 1, 2, 1, 2}, d{0, 0, 2, 0, 2};
  for (const auto& [hops, rank, sentence] : {
           Mistake{{a, b, c}, 0, "block 0-2 does not leave rank 0"},
           {{a, b, c}, 2, "block 0-2 does not come to rank 2"},
           {{a, b, c, d, {0, 0, 3, 0, 2}}, 0, "block 0-2 leaves rank 0 twice, for rank 3 in sta"},
           {{a, b, c, d, {0, 0, 3, 0, 2}}, 3, "block 0-2 does not leave rank 3"},
           {{a, b, c, d, {0, 0, 3, 0, 2}, {1, 3, 2, 0, 2}},
            2,
            "block 0-2 comes to rank 2 twice, from rank 3 in stage 1 again"},
           {{a, b, c, d, {0, 0, 3, 0, 3}},
            0,
            "block 0-3 is not of the pattern: rank 0 does not send to rank 3"},
           {{a, b, c, d, {0, 0, 3, 0, 3}},
            3,
            "block 0-3 is not of the pattern: rank 3 does not receive from rank 0"},
           // a circle: each waits for what the other passes on
           {{a, b, c, {1, 0, 3, 0, 2}, {1, 3, 2, 0, 2}},
            3,
            "block 0-2 leaves rank 3 for rank 2 in stage 1 without having come there in an "
            "earlier"},
       }) {
    const OwnSchedule own = test::read_text(test::text_of(4, hops), rank, 4);
    test::expect_sentence(
        test::error_of([&] { check_schedule(vertices[static_cast<std::size_t>(rank)], own, "s"); }),
        Errc::file, {"the schedule 's' cannot be used: ", sentence});
  }
}

}  // namespace
}  // namespace tonari
