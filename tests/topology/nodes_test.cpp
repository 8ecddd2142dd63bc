// SPDX-License-Identifier: BSD-3-Clause
#include "topology/nodes.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace tonari {
namespace {

using Ranks = std::vector<std::int32_t>;

Ranks node_of(const char* text, int ranks, int rank) {
  const NodeMembers node = node_from_text(text, "TONARI_NODES", ranks, rank);
  EXPECT_EQ(node.node, node.ranks.front());
  return node.ranks;
}

TEST(Nodes, OneNumberIsTheSizeOfEachNode) {
  EXPECT_EQ(node_of("2", 5, 0), (Ranks{0, 1}));
  EXPECT_EQ(node_of("2", 5, 3), (Ranks{2, 3}));
  EXPECT_EQ(node_of("2", 5, 4), (Ranks{4}));
  EXPECT_EQ(node_of("1", 3, 2), (Ranks{2}));
  EXPECT_EQ(node_of("2147483647", 3, 2), (Ranks{0, 1, 2}));
}

TEST(Nodes, SeveralAreSizesAndTheRestIsOneMore) {
  EXPECT_EQ(node_of("1,3,4", 10, 0), (Ranks{0}));
  EXPECT_EQ(node_of("1,3,4", 10, 1), (Ranks{1, 2, 3}));
  EXPECT_EQ(node_of("1,3,4", 10, 7), (Ranks{4, 5, 6, 7}));
  EXPECT_EQ(node_of("1,3,4", 10, 9), (Ranks{8, 9}));
  EXPECT_EQ(node_of("1,3,4", 6, 4), (Ranks{4, 5}));  // too few ranks
  EXPECT_EQ(node_of("1,3,4", 3, 2), (Ranks{1, 2}));
  EXPECT_EQ(node_of("1,2147483647,2147483647", 3, 2), (Ranks{1, 2}));
}

TEST(Nodes, EveryRankIsOnOneNode) {
  for (const char* text : {"1", "3", "1,1", "5,1,2", "2,9"})
    for (int ranks = 1; ranks < 12; ++ranks) {
      Ranks seen;
      for (int rank = 0; rank < ranks; rank = seen.back() + 1) {
        const Ranks node = node_of(text, ranks, rank);
        for (int other : node) EXPECT_EQ(node_of(text, ranks, other), node);
        seen.insert(seen.end(), node.begin(), node.end());
      }
      ASSERT_EQ(seen.size(), static_cast<std::size_t>(ranks)) << text;
      for (int rank = 0; rank < ranks; ++rank) EXPECT_EQ(seen[rank], rank) << text;
    }
}

TEST(Nodes, AnythingElseIsAnError) {
  for (const char* text :
       {"", ",", "0", "-1", "2,", ",2", "2,,3", "2, 3", "x", "2x", "2.5", "3000000000", "1,0"}) {
    const Error error = test::error_of([&] { node_from_text(text, "TONARI_NODES", 4, 1); });
    EXPECT_EQ(error.code(), Errc::argument) << text;
    EXPECT_NE(std::string(error.what()).find(std::string("TONARI_NODES is '") + text + "'"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tonari
