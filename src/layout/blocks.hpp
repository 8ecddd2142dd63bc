// SPDX-License-Identifier: BSD-3-Clause
// Blocks of a grid: any disjoint boxes, each with an owner. All ranks know all of them, so every
// rank computes what it sends and what it receives.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "layout/halo_links.hpp"

namespace tonari {

struct BlockList {
  int dims = 1;
  std::vector<CellBox> boxes;  // own cells, in the numbers of the whole grid; none is empty
  std::vector<int> owners;     // of each: a rank
  CellBox domain = {};         // where it is periodic, all boxes are within it
  std::array<bool, most_surface_dims> periodic{};
  Cells lower{}, upper{};  // ghosts around each block

  std::size_t size() const { return boxes.size(); }
  GridBox box(std::size_t block) const;  // with its ghosts
};

// Own cells of block `from` that are ghosts of block `to`. Cells count from each block's first.
struct BlockLink {
  std::size_t from = 0, to = 0;
  CellBox own = {}, ghosts = {};
};

// What goes to, or comes from, another rank or this one, in the order in which it travels.
struct BlockMessage {
  int peer;
  std::vector<BlockLink> links;
};
struct BlockMessages {
  std::vector<BlockMessage> send, receive;  // peers ascending
};

// Finds blocks by the cells that they have: each is in the bin of its first cell, and bins are as
// large as the largest block (as in AMReX's BoxArray).
class BlockFinder {
 public:
  explicit BlockFinder(const BlockList& blocks);  // which must outlive it
  // use(block) for all that have a cell in `box`; in no particular order
  template <class Use>
  void for_each(const CellBox& box, Use use) const;
  // another block that has cells of this one; itself if there is none
  std::size_t overlapping(std::size_t block) const;

 private:
  Cells bin_of(const Cells& cell) const;

  const BlockList& blocks_;
  Cells extent_{};  // of a bin
  std::map<Cells, std::vector<std::size_t>> bins_;
};

// Forward messages of `rank`.
BlockMessages block_messages(const BlockList& blocks, const BlockFinder& finder, int rank,
                             const Reach& reach);

}  // namespace tonari
