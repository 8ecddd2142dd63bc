// SPDX-License-Identifier: BSD-3-Clause
#include "grid/grid_layout.hpp"

#include <utility>

namespace tonari {

GridLayout::GridLayout(GridShape shape, int rank) : shape_(std::move(shape)), rank_(rank) {
  for (int s = 0; s < shape_.parts.subdomains(); ++s) {
    boxes_.push_back(shape_.parts.box(rank, s));
    check(boxes_.back());
    if (shape_.bricked()) bricks_.push_back(&bricks_of(boxes_.back()));
  }
}

const BrickLayout& GridLayout::bricks_of(const GridBox& box) const {
  std::shared_ptr<const BrickLayout>& known = known_[box.own];
  if (!known)
    known = std::make_shared<const BrickLayout>(
        box,
        BrickShape{shape_.brick, static_cast<std::int64_t>(shape_.element_bytes), shape_.fields,
                   shape_.interleaved, shape_.page ? static_cast<std::int64_t>(shape_.page) : 1},
        surface_order(shape_.dims()));
  return *known;
}

std::uint64_t GridLayout::file_offset(int rank, int subdomain, int copy) const {
  std::uint64_t offset = 0;
  for (int s = 0; s < subdomain; ++s)
    offset +=
        bricks_of(shape_.parts.box(rank, s)).bytes() * static_cast<std::uint64_t>(shape_.copies);
  return offset +
         bricks_of(shape_.parts.box(rank, subdomain)).bytes() * static_cast<std::uint64_t>(copy);
}

}  // namespace tonari
