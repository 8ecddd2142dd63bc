// SPDX-License-Identifier: BSD-3-Clause
#include "topology/by_peer.hpp"

#include <algorithm>

namespace tonari {

ByPeer::ByPeer(std::span<const std::int32_t> list) {
  for (std::uint32_t i = 0; i < list.size(); ++i)
    if (list[i] >= 0) blocks_.push_back(i);
  std::stable_sort(blocks_.begin(), blocks_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return list[a] < list[b]; });
  const std::span<std::uint32_t> all(blocks_);
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && list[all[end]] == list[all[begin]]) ++end;
    peers_.push_back({list[all[begin]], all.subspan(begin, end - begin)});
  }
}

std::size_t ByPeer::find(std::int32_t rank) const {
  const auto found =
      std::lower_bound(peers_.begin(), peers_.end(), rank,
                       [](const Peer& peer, std::int32_t wanted) { return peer.rank < wanted; });
  return static_cast<std::size_t>(
      (found != peers_.end() && found->rank == rank ? found : peers_.end()) - peers_.begin());
}

}  // namespace tonari
