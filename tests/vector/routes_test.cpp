// SPDX-License-Identifier: BSD-3-Clause
// What routes are good for: who sends how many messages and values, told by facts and counted at
// the MPI.
#include <fstream>

#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/reserved.hpp"
#include "support/same_error.hpp"
#include "vector/vectors.hpp"

namespace {

using namespace tonari::test;

// Rank r owns 3 indices; everybody needs the first one of rank 0.
Sharing hot_spot() {
  Sharing s;
  for (int r = 0; r < world_size(); ++r) {
    s.own.push_back({3 * r, 3});
    s.needs.push_back({0});
  }
  s.size = 3 * world_size();
  return s;
}

tonari_vector_facts facts_of(tonari_vector vector) {
  auto facts = with_all_bits_set<tonari_vector_facts>();
  must(tonari_vector_get_facts(vector, &facts));
  EXPECT_TRUE(reserved_is_zero(facts));
  return facts;
}

int largest(int mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return mine;
}

class VectorRoutes : public VectorTest {
 protected:
  // Messages of the busiest rank forward and in reverse, counted at the MPI.
  std::pair<int, int> messages(const Sharing& s, const std::string& route) {
    tonari_vector vector = make_vector(s, route);
    std::vector<double> x(static_cast<std::size_t>(s.mine().count), 1),
        ghosts(s.my_needs().size(), 1);
    tonari_request requests[2];
    const Info info{
        {"tonari_tune", "off"}, {"tonari_channel", "p2p-packed"}, {"tonari_algorithm", "linear"}};
    must(tonari_vector_forward_init(vector, nullptr, x.data(), ghosts.data(), info, &requests[0]));
    must(tonari_vector_reverse_init(vector, nullptr, MPI_SUM, ghosts.data(), x.data(), info,
                                    &requests[1]));
    const tonari_vector_facts facts = facts_of(vector);
    int sent[2];
    for (int d = 0; d < 2; ++d) {
      int codes = 0;
      arm();
      codes |= tonari_start(requests[d]);
      codes |= tonari_wait(requests[d]);
      const Counts counts = disarm();
      EXPECT_EQ(codes, 0);
      EXPECT_EQ(counts.allocations, 0) << route;
      EXPECT_EQ(counts.collectives, 0) << counts.first;
      EXPECT_EQ(counts.setups, 0) << counts.first;
      tonari_request_info about;
      must(tonari_request_get_info(requests[d], &about));
      EXPECT_EQ(counts.sends, about.messages);
      EXPECT_EQ(about.messages, d == 0 ? facts.targets : facts.sources);
      sent[d] = largest(static_cast<int>(counts.sends));
      must(tonari_request_free(&requests[d]));
    }
    const bool earlier = route.starts_with("topology:");
    EXPECT_EQ(facts.route, earlier ? "store-and-forward/" + route.substr(9) : route);
    must(tonari_vector_free(&vector));
    return {sent[0], sent[1]};
  }
};

TEST_F(VectorRoutes, HotSpot) {
  const int ranks = world_size();
  EXPECT_EQ(messages(hot_spot(), "direct"), std::pair(ranks - 1, ranks > 1 ? 1 : 0));
  EXPECT_EQ(messages(hot_spot(), "store-and-forward/1"), std::pair(ranks - 1, ranks > 1 ? 1 : 0));
  EXPECT_EQ(messages(hot_spot(), "topology:1"), messages(hot_spot(), "store-and-forward/1"));
  if (ranks == 8) {  // 4 x 2, and 2 x 2 x 2
    EXPECT_EQ(messages(hot_spot(), "store-and-forward/2"), std::pair(3 + 1, 1));
    EXPECT_EQ(messages(hot_spot(), "store-and-forward/3"), std::pair(3, 1));
  } else if (ranks == 16) {
    EXPECT_EQ(messages(hot_spot(), "store-and-forward/2"), std::pair(3 + 3, 1));
    EXPECT_EQ(messages(hot_spot(), "store-and-forward/4"), std::pair(4, 1));
  }
  Nodes::set("4");
  if (ranks > 4)
    EXPECT_EQ(messages(hot_spot(), "node"), std::pair(3 + (ranks - 1) / 4, 1));
  else
    EXPECT_EQ(messages(hot_spot(), "node").first, ranks - 1);
}

// One copy enters each node: rank 0 of 8 sends its value twice, not five times, where 4 ranks of
// the other node need it and one of its own.
TEST_F(VectorRoutes, OneCopyPerNode) {
  if (world_size() != 8) GTEST_SKIP() << "worked out for 8 ranks";
  Nodes::set("4");
  Sharing s = hot_spot();
  for (const int r : {0, 2, 3}) s.needs[static_cast<std::size_t>(r)].clear();
  tonari_vector vector = make_vector(s, "node");
  const tonari_vector_facts facts = facts_of(vector);
  EXPECT_EQ(facts.stages, 2);
  EXPECT_EQ(facts.ghosts, world_rank() == 1 || world_rank() > 3);
  // rank 4 passes on what rank 0 owns
  EXPECT_EQ(facts.values_sent, world_rank() == 0 ? 2 : world_rank() == 4 ? 3 : 0);
  EXPECT_EQ(facts.values_received, facts.ghosts);
  must(tonari_vector_free(&vector));
}

// Hops in which nobody has anything to do are none: neighbors in a row of the mesh need one stage
// of two.
TEST_F(VectorRoutes, StagesThatNobodyNeeds) {
  if (world_size() != 8) GTEST_SKIP() << "worked out for 8 ranks";
  Sharing s = hot_spot();
  // 4 x 2: differ in the first digit
  for (int r = 0; r < 8; ++r) s.needs[static_cast<std::size_t>(r)] = {3 * (r ^ 1)};
  for (const auto& [route, stages] : {std::pair("direct", 1), std::pair("store-and-forward/2", 1),
                                      std::pair("store-and-forward/3", 1)}) {
    tonari_vector vector = make_vector(s, route);
    EXPECT_EQ(facts_of(vector).stages, stages) << route;
    EXPECT_EQ(facts_of(vector).targets, 1);
    must(tonari_vector_free(&vector));
  }
}

TEST_F(VectorRoutes, AutoIsOneOfThem) {
  Nodes::set("2");
  tonari_vector vector = make_vector(hot_spot(), "auto");
  const std::string route = facts_of(vector).route;
  EXPECT_TRUE(route == "direct" || route == "node" || route == "store-and-forward/2") << route;
  expect_everywhere(TONARI_SUCCESS, TONARI_SUCCESS, {});
  char first[24] = "";
  route.copy(first, sizeof first - 1);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_EQ(route, first);
  must(tonari_vector_free(&vector));
}

// The winner is remembered for this pattern: then no other route is made.
TEST_F(VectorRoutes, AutoIsRemembered) {
  if (ranks_are_slow() || world_size() < 3)
    GTEST_SKIP() << "for ranks that are fast, and enough of them for several routes";
  Nodes::set("2");
  const FreshWisdom wisdom("0.005");
  const auto remembered = [&] {
    std::ifstream in(wisdom.directory() + "/wisdom");
    std::string route;
    for (std::string line; std::getline(in, line);)
      if (line.find("|route|") != line.npos) route = line.substr(line.find('\t') + 1);
    return route.substr(0, route.find('|'));
  };
  const EvenClock clock;
  tonari_vector vector = make_vector(hot_spot(), "auto");
  must(tonari_vector_free(&vector));
  std::string known = world_rank() == 0 ? remembered() : "";
  known.resize(23);
  MPI_Bcast(known.data(), 23, MPI_CHAR, 0, MPI_COMM_WORLD);
  known = known.c_str();
  ASSERT_NE(known, "");
  vector = make_vector(hot_spot(), "auto");
  EXPECT_EQ(facts_of(vector).route, known);
  must(tonari_vector_free(&vector));
}

}  // namespace
