// SPDX-License-Identifier: BSD-3-Clause
#include "topology/by_peer.hpp"

#include <gtest/gtest.h>

namespace tonari {
namespace {

TEST(ByPeer, GroupsEntriesByRank) {
  const std::int32_t list[] = {5, 2, -1, 5, 0, 2, 5};
  const ByPeer by_peer(list);
  ASSERT_EQ(by_peer.groups().size(), 3u);
  const std::vector<std::uint32_t> expected[] = {{4}, {1, 5}, {0, 3, 6}};
  for (std::size_t g = 0; g < 3; ++g) {
    const ByPeer::Group& group = by_peer.groups()[g];
    EXPECT_EQ(group.peer, list[expected[g][0]]);
    EXPECT_EQ(std::vector<std::uint32_t>(group.blocks.begin(), group.blocks.end()), expected[g]);
    EXPECT_EQ(by_peer.find(group.peer), g);
  }
  for (int peer : {-1, 1, 3, 6}) EXPECT_EQ(by_peer.find(peer), 3u);
}

TEST(ByPeer, NothingHasNoGroups) {
  const std::int32_t nowhere[] = {-1, -1};
  EXPECT_TRUE(ByPeer({}).groups().empty());
  EXPECT_TRUE(ByPeer(nowhere).groups().empty());
  EXPECT_EQ(ByPeer({}).find(0), 0u);
}

}  // namespace
}  // namespace tonari
