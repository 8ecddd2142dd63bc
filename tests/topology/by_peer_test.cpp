// SPDX-License-Identifier: BSD-3-Clause
#include "topology/by_peer.hpp"

#include <gtest/gtest.h>

namespace tonari {
namespace {

TEST(ByPeer, FindsEntriesByRank) {
  const std::int32_t list[] = {5, 2, -1, 5, 0, 2, 5};
  const ByPeer by_peer(list);
  ASSERT_EQ(by_peer.peers().size(), 3u);
  const std::vector<std::uint32_t> expected[] = {{4}, {1, 5}, {0, 3, 6}};
  for (std::size_t g = 0; g < 3; ++g) {
    const ByPeer::Peer& peer = by_peer.peers()[g];
    EXPECT_EQ(peer.rank, list[expected[g][0]]);
    EXPECT_EQ(std::vector<std::uint32_t>(peer.blocks.begin(), peer.blocks.end()), expected[g]);
    EXPECT_EQ(by_peer.find(peer.rank), g);
  }
  for (int peer : {-1, 1, 3, 6}) EXPECT_EQ(by_peer.find(peer), 3u);
}

TEST(ByPeer, NothingHasNoPeers) {
  const std::int32_t nowhere[] = {-1, -1};
  EXPECT_TRUE(ByPeer({}).peers().empty());
  EXPECT_TRUE(ByPeer(nowhere).peers().empty());
  EXPECT_EQ(ByPeer({}).find(0), 0u);
}

}  // namespace
}  // namespace tonari
