// SPDX-License-Identifier: BSD-3-Clause
// Trees of ready receivers: every receiver is in it once, parents and children agree, nobody hears
// of more than `degree`, and no path is longer than it must be.
#include "channels/onesided/rtr_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace tonari {
namespace {

// The depth of a full tree: the least h with d + d^2 + ... + d^h >= n.
std::size_t least_depth(std::size_t n, std::size_t degree) {
  std::size_t depth = 0;
  for (std::size_t level = 1, reached = 0; reached < n; ++depth) level *= degree, reached += level;
  return depth;
}

std::size_t depth_of(int rank, int sender, const std::map<int, int>& parents) {
  std::size_t depth = 0;
  for (; rank != sender && depth <= parents.size(); ++depth) rank = parents.at(rank);
  return depth;
}

void expect_tree(int sender, const std::vector<int>& targets, int degree) {
  SCOPED_TRACE(testing::Message() << "sender " << sender << ", " << targets.size()
                                  << " targets, degree " << degree);
  const RtrTree tree(sender, targets, degree);
  std::set<int> receivers(targets.begin(), targets.end());
  receivers.erase(sender);
  EXPECT_EQ(std::set<int>(tree.order().begin(), tree.order().end()), receivers);
  EXPECT_EQ(tree.order().size(), receivers.size());

  std::map<int, int> parents, told;  // told: by the parent
  for (int child : tree.children_of_sender()) EXPECT_TRUE(told.emplace(child, sender).second);
  EXPECT_LE(tree.children_of_sender().size(), static_cast<std::size_t>(degree));
  std::size_t deepest = 0;
  for (std::size_t place = 0; place < tree.order().size(); ++place) {
    parents[tree.order()[place]] = tree.parent(place);
    EXPECT_LE(tree.children(place).size(), static_cast<std::size_t>(degree));
    for (int child : tree.children(place))
      EXPECT_TRUE(told.emplace(child, tree.order()[place]).second);
  }
  EXPECT_EQ(parents, told);
  for (int rank : receivers) deepest = std::max(deepest, depth_of(rank, sender, parents));
  EXPECT_EQ(deepest, least_depth(receivers.size(), static_cast<std::size_t>(degree)));
}

TEST(RtrTree, ReachesEveryReceiverOnceByTheShortestPaths) {
  std::mt19937 random(7);
  for (int degree : {1, 2, 3, 4, 8, 1000})
    for (int size = 0; size < 70; ++size) {
      std::vector<int> targets(static_cast<std::size_t>(size));
      for (int& rank : targets) rank = static_cast<int>(random() % 100);
      expect_tree(static_cast<int>(random() % 100), targets, degree);
    }
}

TEST(RtrTree, OfDegreeOneIsAChain) {
  const std::vector<int> targets{3, 9, 1};
  const RtrTree tree(5, targets, 1);
  EXPECT_EQ(tree.order(), (std::vector<int>{9, 1, 3}));
  EXPECT_EQ(tree.parent(0), 5);
  EXPECT_EQ(tree.parent(1), 9);
  EXPECT_EQ(tree.parent(2), 1);
}

TEST(RtrTree, NeighboringSendersGiveTheInnerPlacesToDifferentRanks) {
  std::set<int> first;
  for (int sender = 0; sender < 8; ++sender) {
    const std::vector<int> everybody{0, 1, 2, 3, 4, 5, 6, 7};
    first.insert(RtrTree(sender, everybody, 2).order().front());
  }
  EXPECT_EQ(first.size(), 8u);
}

}  // namespace
}  // namespace tonari
