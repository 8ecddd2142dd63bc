// SPDX-License-Identifier: BSD-3-Clause
// How a grid is laid out: the boxes of this rank's subdomains, their bricks, and where those of any
// rank lie in its file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "grid/shape.hpp"
#include "layout/brick_layout.hpp"

namespace tonari {

class GridLayout {
 public:
  // Local. Throws if a subdomain cannot have such halos, or has more bricks than can be numbered.
  GridLayout(GridShape shape, int rank);

  const GridShape& shape() const { return shape_; }
  int rank() const { return rank_; }
  int subdomains() const { return static_cast<int>(boxes_.size()); }
  const GridBox& box(int subdomain) const { return boxes_[static_cast<std::size_t>(subdomain)]; }
  // bricked storages
  const BrickLayout& bricks(int subdomain) const {
    return *bricks_[static_cast<std::size_t>(subdomain)];
  }
  const BrickLayout& bricks_of(const GridBox& box) const;  // of any rank

  // Of a copy of a subdomain, among all of this rank.
  std::size_t number(int subdomain, int copy) const {
    return static_cast<std::size_t>(copy) * boxes_.size() + static_cast<std::size_t>(subdomain);
  }
  // Mapped storages: where in a rank's file a copy of its subdomain begins.
  std::uint64_t file_offset(int rank, int subdomain, int copy) const;

 private:
  GridShape shape_;
  int rank_;
  std::vector<GridBox> boxes_;
  mutable std::map<Cells, std::shared_ptr<const BrickLayout>> known_;  // by own cells
  std::vector<const BrickLayout*> bricks_;                             // of this rank's subdomains
};

}  // namespace tonari
