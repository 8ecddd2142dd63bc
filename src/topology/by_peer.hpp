// SPDX-License-Identifier: BSD-3-Clause
// The entries of a list of ranks, grouped by the rank they name.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tonari {

class ByPeer {
 public:
  struct Group {
    std::int32_t peer;
    // the positions in the list, ascending unless a caller sorts otherwise
    std::span<std::uint32_t> blocks;
  };

  // Entries below 0 are left out.
  explicit ByPeer(std::span<const std::int32_t> list);
  ByPeer(const ByPeer&) = delete;
  ByPeer& operator=(const ByPeer&) = delete;

  const std::vector<Group>& groups() const { return groups_; }  // peers ascending
  // The number of the rank's group; groups().size() if there is none.
  std::size_t find(std::int32_t peer) const;

 private:
  std::vector<std::uint32_t> blocks_;
  std::vector<Group> groups_;
};

}  // namespace tonari
