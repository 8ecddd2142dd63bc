// SPDX-License-Identifier: BSD-3-Clause
// Messages between blocks: what one rank sends another expects, and every ghost is brought once by
// the block that has its cell.
#include "layout/blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace tonari {
namespace {

// Unit cells of a line, in blocks of so many cells.
BlockList line(const std::vector<std::int64_t>& lengths, int ranks, std::int64_t width,
               bool periodic) {
  BlockList blocks;
  blocks.lower[0] = blocks.upper[0] = width;
  blocks.periodic[0] = periodic;
  std::int64_t at = -3;
  blocks.domain.first[0] = at;
  for (const std::int64_t length : lengths) {
    blocks.boxes.push_back({{at}, {at + length}});
    blocks.owners.push_back(static_cast<int>(blocks.owners.size()) % ranks);
    at += length;
  }
  blocks.domain.end[0] = at;
  return blocks;
}

TEST(BlockMessages, BothEndsAgree) {
  std::mt19937 random(3);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const int ranks = 1 + repeat % 4;
    std::vector<std::int64_t> lengths(1 + random() % 6);
    for (std::int64_t& length : lengths) length = 1 + static_cast<std::int64_t>(random() % 5);
    const BlockList blocks = line(lengths, ranks, repeat % 9, repeat % 2 == 0);
    const BlockFinder finder(blocks);
    std::vector<BlockMessages> all;
    for (int r = 0; r < ranks; ++r) all.push_back(block_messages(blocks, finder, r, Reach::all));
    const auto find = [](const std::vector<BlockMessage>& messages, int peer) {
      const auto found = std::ranges::find(messages, peer, &BlockMessage::peer);
      return found == messages.end() ? std::vector<BlockLink>{} : found->links;
    };
    for (int from = 0; from < ranks; ++from)
      for (int to = 0; to < ranks; ++to) {
        const auto sent = find(all[static_cast<std::size_t>(from)].send, to),
                   received = find(all[static_cast<std::size_t>(to)].receive, from);
        ASSERT_EQ(sent.size(), received.size());
        for (std::size_t k = 0; k < sent.size(); ++k) {
          EXPECT_EQ(std::pair(sent[k].from, sent[k].to),
                    std::pair(received[k].from, received[k].to));
          EXPECT_EQ(sent[k].own, received[k].own);
          EXPECT_EQ(sent[k].ghosts, received[k].ghosts);
        }
      }
    // every ghost with an owner, once
    for (int r = 0; r < ranks; ++r) {
      std::set<std::pair<std::size_t, std::int64_t>> filled;
      for (const BlockMessage& message : all[static_cast<std::size_t>(r)].receive)
        for (const BlockLink& link : message.links)
          for (std::int64_t x = link.ghosts.first[0]; x < link.ghosts.end[0]; ++x) {
            EXPECT_TRUE(filled.insert({link.to, x}).second) << "twice";
            const std::int64_t length = blocks.domain.end[0] - blocks.domain.first[0];
            const std::int64_t owner = blocks.boxes[link.from].first[0] + link.own.first[0] + x -
                                       link.ghosts.first[0],
                               ghost = blocks.boxes[link.to].first[0] + x;
            EXPECT_EQ((owner - ghost) % length, 0);
            EXPECT_LT(owner, blocks.boxes[link.from].end[0]);
          }
      for (std::size_t b = 0; b < blocks.size(); ++b)
        for (std::int64_t x = -blocks.lower[0]; blocks.owners[b] == r && x < 0; ++x)
          EXPECT_EQ(filled.count({b, x}) == 1,
                    blocks.periodic[0] || blocks.boxes[b].first[0] + x >= blocks.domain.first[0]);
    }
  }
}

TEST(BlockFinder, FindsWhatOverlaps) {
  BlockList blocks = line({4, 1, 7}, 1, 0, false);
  EXPECT_EQ(BlockFinder(blocks).overlapping(1), 1U);
  blocks.boxes[1].end[0] += 1;
  EXPECT_EQ(BlockFinder(blocks).overlapping(1), 2U);
  EXPECT_EQ(BlockFinder(blocks).overlapping(0), 0U);
}

}  // namespace
}  // namespace tonari
