// SPDX-License-Identifier: BSD-3-Clause
// The entries of a list of ranks, by the rank they name.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tonari {

class ByPeer {
 public:
  struct Peer {
    std::int32_t rank;
    // the positions in the list, ascending unless a caller sorts otherwise
    std::span<std::uint32_t> blocks;
  };

  // Entries below 0 are left out.
  explicit ByPeer(std::span<const std::int32_t> list);
  ByPeer(const ByPeer&) = delete;
  ByPeer& operator=(const ByPeer&) = delete;

  const std::vector<Peer>& peers() const { return peers_; }  // ascending
  // The rank's number in that list; peers().size() if it is not there.
  std::size_t find(std::int32_t rank) const;

 private:
  std::vector<std::uint32_t> blocks_;
  std::vector<Peer> peers_;
};

}  // namespace tonari
