// SPDX-License-Identifier: BSD-3-Clause
#include "channels/onesided/rtr_tree.hpp"

#include <algorithm>

#include "topology/staggered.hpp"

namespace tonari {

RtrTree::RtrTree(int sender, std::span<const int> targets, int degree)
    : sender_(sender),
      degree_(static_cast<std::size_t>(std::max(degree, 1))),
      order_(targets.begin(), targets.end()) {
  std::erase(order_, sender);
  std::ranges::sort(order_, {}, [sender](int target) { return staggered(sender, target); });
  order_.erase(std::unique(order_.begin(), order_.end()), order_.end());
}

// The children of place i are the places d(i+1) to d(i+1) + d - 1, those of the sender 0 to d - 1:
// the sender counts as place -1.
int RtrTree::parent(std::size_t place) const {
  return place < degree_ ? sender_ : order_[place / degree_ - 1];
}

std::span<const int> RtrTree::level(std::size_t first) const {
  const std::span<const int> all(order_);
  return first >= all.size() ? std::span<const int>()
                             : all.subspan(first, std::min(degree_, all.size() - first));
}

}  // namespace tonari
