// SPDX-License-Identifier: BSD-3-Clause
// In a small communicator every rank plans for all. What it finds is what ranks find together, and
// once it has the lists it asks nobody.
#include "engine/comm/all_lists.hpp"

#include <random>

#include "engine/comm/context.hpp"
#include "planners/graphs/graphs.hpp"
#include "support/counting.hpp"
#include "support/duplicate.hpp"
#include "support/oracle.hpp"

namespace tonari {
namespace {

using test::world_rank, test::world_size;

TopologyLists lists_of(const Vertex& vertex) {
  TopologyLists lists;
  lists.targets = vertex.targets;
  lists.sources = vertex.sources;
  return lists;
}

std::vector<Vertex> told_by_all(SharedComm& shared, const TopologyLists& mine) {
  AllLists all(shared.ranks());
  stay_together(shared.comm());
  all.tell(shared.comm(), mine, shared.nodes()->members.node);
  return all.vertices();
}

// Of one rank, as a text.
std::string as_text(const Plan& plan) {
  std::string all;
  for (const Operation& op : plan.operations())
    all += text(static_cast<int>(op.kind), " ", op.peer, " ", op.tag, " ", op.slice_count, "\n");
  return all;
}

class AllListsOf : public testing::Test {
 protected:
  std::vector<Vertex> random_graph(unsigned seed) const {
    std::mt19937 random(seed);
    std::vector<Vertex> all = graphs::make(
        world_size(), graphs::random_targets(world_size(), static_cast<int>(seed % 5), random));
    graphs::disturb(all, random);
    return all;
  }
  const std::shared_ptr<const OwnedComm> comm = test::duplicate_of_all();
  const std::shared_ptr<SharedComm> shared = SharedComm::of(comm->get());
};

TEST_F(AllListsOf, AreThoseThatRanksGave) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const std::vector<Vertex> given = random_graph(seed);
    TopologyLists mine = lists_of(given[world_rank()]);
    mine.origins = given[world_rank()].origins;
    const std::vector<Vertex> told = told_by_all(*shared, mine);
    ASSERT_EQ(told.size(), given.size());
    for (std::size_t r = 0; r < told.size(); ++r) {
      EXPECT_EQ(told[r].rank, given[r].rank);
      EXPECT_EQ(told[r].targets, given[r].targets);
      EXPECT_EQ(told[r].sources, given[r].sources);
      EXPECT_EQ(told[r].origins, given[r].origins);
    }
    const Vertex& here = told[world_rank()];
    EXPECT_EQ(here.node, shared->nodes()->members.node);
    EXPECT_EQ(here.node_ranks, shared->nodes()->members.ranks);
  }
}

TEST_F(AllListsOf, HaveNoRoomForMany) {
  TopologyLists long_ones;
  long_ones.targets.resize(4096);
  for (const int ranks : {1, 3, 32}) {
    EXPECT_TRUE(AllLists(ranks).has_room(AllLists::words(lists_of({}))));
    EXPECT_FALSE(AllLists(ranks).has_room(AllLists::words(long_ones)));
  }
  EXPECT_FALSE(AllLists(33).has_room(AllLists::words(lists_of({}))));
  EXPECT_FALSE(AllLists().has_room(AllLists::words(lists_of({}))));
}

TEST_F(AllListsOf, LeadToThePlansThatRanksMakeTogether) {
  (void)shared->machine();
  for (const unsigned seed : {3U, 4U}) {
    const std::vector<Vertex> given = random_graph(seed);
    const TopologyLists mine = lists_of(given[world_rank()]);
    const auto settings = std::make_shared<const Settings>();
    Context together(shared, mine, settings);
    const std::vector<Vertex> all = told_by_all(*shared, mine);
    test::arm();
    Context alone(shared, all, std::nullopt, settings);
    EXPECT_EQ(alone.vertex().origins, together.vertex().origins);
    EXPECT_EQ(alone.topology().fingerprint, together.topology().fingerprint);
    EXPECT_EQ(alone.topology().neighbors, together.topology().neighbors);
    EXPECT_EQ(test::disarm().collectives, 0);
    for (const std::string& algorithm : together.planners().algorithms())
      for (const Collective collective : {Collective::alltoall, Collective::allgather}) {
        std::string why_together, why_alone;
        const auto expected =
            together.planners().variants(algorithm, collective, 64, "", why_together);
        test::arm();
        const auto found = alone.planners().variants(algorithm, collective, 64, "", why_alone);
        EXPECT_EQ(test::disarm().collectives, 0) << algorithm;
        EXPECT_EQ(why_alone, why_together);
        ASSERT_EQ(found.size(), expected.size()) << algorithm;
        for (std::size_t k = 0; k < found.size(); ++k) {
          EXPECT_EQ(found[k]->label(), expected[k]->label());
          EXPECT_EQ(found[k]->dedup_key(), expected[k]->dedup_key()) << found[k]->label();
          EXPECT_EQ(found[k]->rounds(), expected[k]->rounds()) << found[k]->label();
          EXPECT_EQ(as_text(found[k]->plan(world_rank())), as_text(expected[k]->plan(world_rank())))
              << found[k]->label();
        }
      }
  }
}

}  // namespace
}  // namespace tonari
