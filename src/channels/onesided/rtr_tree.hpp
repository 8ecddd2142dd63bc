// SPDX-License-Identifier: BSD-3-Clause
// The trees over which a sender learns that all its receivers are ready (Hoefler and Schneider
// 2012, II-C2). A receiver whose children are ready tells its parent, so that the sender hears from
// `degree` ranks instead of all.
//
//              sender                 The degree is 2; the numbers are places in order(). The tree
//            0        1               is filled level by level, so all levels but the last are full
//          2   3    4   5             and no path is longer than it must be.
//         6 7 8
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tonari {

class RtrTree {
 public:
  // `targets` are ranks in any order; repeated ones count once. The sender itself needs no tree and
  // is left out. `degree` is at least 1.
  RtrTree(int sender, std::span<const int> targets, int degree);

  // The receivers, ascending from the sender on and around, so that neighboring senders give the
  // inner places to different ranks.
  const std::vector<int>& order() const { return order_; }
  // The rank that the receiver in this place reports to.
  int parent(std::size_t place) const;
  // The ranks that report to it.
  std::span<const int> children(std::size_t place) const { return level(degree_ * (place + 1)); }
  std::span<const int> children_of_sender() const { return level(0); }

 private:
  std::span<const int> level(std::size_t first) const;

  int sender_;
  std::size_t degree_;
  std::vector<int> order_;
};

}  // namespace tonari
