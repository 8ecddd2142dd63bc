// SPDX-License-Identifier: BSD-3-Clause
#include "layout/blocks.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tonari {
namespace {

CellBox common(const CellBox& a, const CellBox& b, int dims) {
  CellBox both;
  for (std::size_t k = 0; k < static_cast<std::size_t>(dims); ++k) {
    both.first[k] = std::max(a.first[k], b.first[k]);
    both.end[k] = std::min(a.end[k], b.end[k]);
  }
  return both;
}

CellBox moved_by(CellBox box, const Cells& by, std::int64_t sign, int dims) {
  for (std::size_t k = 0; k < static_cast<std::size_t>(dims); ++k)
    box.first[k] += sign * by[k], box.end[k] += sign * by[k];
  return box;
}

CellBox grown(CellBox box, const Cells& below, const Cells& above, int dims) {
  for (std::size_t k = 0; k < static_cast<std::size_t>(dims); ++k)
    box.first[k] -= below[k], box.end[k] += above[k];
  return box;
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

class Links {
 public:
  Links(const BlockList& blocks, const BlockFinder& finder, const Reach& reach)
      : blocks_(blocks), finder_(finder), reach_(reach) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(dims()); ++k) {
      below_[k] = std::min(blocks.lower[k], reach.lower[k]);
      above_[k] = std::min(blocks.upper[k], reach.upper[k]);
    }
    for (const Region v : directions(dims()))
      if (reach.has(GridBox{dims(), ones(), below_, above_}, v)) used_.push_back(v);
    some_ = reach.along < dims();
    list_images();
  }

  BlockMessages of(int rank) {
    std::map<int, std::vector<BlockLink>> send, receive;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (blocks_.owners[b] != rank) continue;
      const CellBox& box = blocks_.boxes[b];
      for (const Cells& image : images_) {
        finder_.for_each(moved_by(grown(box, below_, above_, dims()), image, -1, dims()),
                         [&](std::size_t j) { link(j, b, image, receive[blocks_.owners[j]]); });
        finder_.for_each(grown(moved_by(box, image, 1, dims()), above_, below_, dims()),
                         [&](std::size_t i) { link(b, i, image, send[blocks_.owners[i]]); });
      }
    }
    return {in_order(send), in_order(receive)};
  }

 private:
  int dims() const { return blocks_.dims; }
  static Cells ones() {
    Cells cells{};
    cells.fill(1);
    return cells;
  }

  // By how much the domain is repeated where it is periodic.
  void list_images() {
    images_.emplace_back();
    for (std::size_t k = 0; k < static_cast<std::size_t>(dims()); ++k) {
      const std::int64_t period = blocks_.domain.end[k] - blocks_.domain.first[k],
                         width = std::max(below_[k], above_[k]);
      if (!blocks_.periodic[k] || width == 0) continue;
      const std::int64_t most = 1 + (width - 1) / period;
      std::vector<Cells> more;
      for (const Cells& image : images_)
        for (std::int64_t n = -most; n <= most; ++n) {
          more.push_back(image);
          more.back()[k] = n * period;
        }
      images_ = std::move(more);
    }
  }

  // Adds the cells of an image of block `from` among the ghosts of block `to`.
  void link(std::size_t from, std::size_t to, const Cells& image, std::vector<BlockLink>& links) {
    if (from == to && image == Cells{}) return;
    const Cells& origin = blocks_.boxes[to].first;
    const CellBox there =  // as block `to` counts
        moved_by(moved_by(blocks_.boxes[from], image, 1, dims()), origin, -1, dims());
    GridBox box = blocks_.box(to);
    box.lower = below_, box.upper = above_;
    const auto add = [&](const CellBox& region) {
      const CellBox ghosts = common(there, region, dims());
      if (empty(ghosts, dims())) return;
      Cells back{};
      for (std::size_t k = 0; k < static_cast<std::size_t>(dims()); ++k) back[k] = there.first[k];
      links.push_back({from, to, moved_by(ghosts, back, -1, dims()), ghosts});
    };
    if (!some_) return add(grown({{}, box.own}, below_, above_, dims()));
    for (const Region v : used_) add(ghost_box(box, v));
  }

  // The same at both ends: ghosts of one block are in one place only.
  static std::vector<BlockMessage> in_order(std::map<int, std::vector<BlockLink>>& by_peer) {
    std::vector<BlockMessage> all;
    for (auto& [peer, links] : by_peer) {
      if (links.empty()) continue;
      std::ranges::sort(links, {}, [](const BlockLink& link) {
        return std::tuple(link.to, link.from, link.ghosts.first);
      });
      all.push_back({peer, std::move(links)});
    }
    return all;
  }

  const BlockList& blocks_;
  const BlockFinder& finder_;
  const Reach& reach_;
  Cells below_{}, above_{};
  std::vector<Region> used_;
  bool some_ = false;  // not all directions
  std::vector<Cells> images_;
};

}  // namespace

GridBox BlockList::box(std::size_t block) const {
  GridBox box{dims, {}, lower, upper};
  for (std::size_t k = 0; k < static_cast<std::size_t>(dims); ++k)
    box.own[k] = boxes[block].end[k] - boxes[block].first[k];
  return box;
}

BlockFinder::BlockFinder(const BlockList& blocks) : blocks_(blocks) {
  extent_.fill(1);
  for (const CellBox& box : blocks.boxes)
    for (std::size_t k = 0; k < static_cast<std::size_t>(blocks.dims); ++k)
      extent_[k] = std::max(extent_[k], box.end[k] - box.first[k]);
  for (std::size_t b = 0; b < blocks.size(); ++b) bins_[bin_of(blocks.boxes[b].first)].push_back(b);
}

Cells BlockFinder::bin_of(const Cells& cell) const {
  Cells bin{};
  for (std::size_t k = 0; k < static_cast<std::size_t>(blocks_.dims); ++k)
    bin[k] = floor_divide(cell[k], extent_[k]);
  return bin;
}

template <class Use>
void BlockFinder::for_each(const CellBox& box, Use use) const {
  if (empty(box, blocks_.dims)) return;
  Cells first{}, last{};
  for (std::size_t k = 0; k < static_cast<std::size_t>(blocks_.dims); ++k)
    first[k] = box.first[k] - extent_[k] + 1, last[k] = box.end[k] - 1;
  first = bin_of(first), last = bin_of(last);
  Cells bin = first;
  for (int k = 0; k >= 0;) {
    if (const auto found = bins_.find(bin); found != bins_.end())
      for (const std::size_t b : found->second)
        if (!empty(common(blocks_.boxes[b], box, blocks_.dims), blocks_.dims)) use(b);
    for (k = blocks_.dims - 1; k >= 0; --k) {
      const auto at = static_cast<std::size_t>(k);
      if (bin[at]++ < last[at]) break;
      bin[at] = first[at];
    }
  }
}

std::size_t BlockFinder::overlapping(std::size_t block) const {
  std::size_t other = block;
  for_each(blocks_.boxes[block], [&](std::size_t b) {
    if (b != block) other = b;
  });
  return other;
}

BlockMessages block_messages(const BlockList& blocks, const BlockFinder& finder, int rank,
                             const Reach& reach) {
  return Links(blocks, finder, reach).of(rank);
}

}  // namespace tonari
