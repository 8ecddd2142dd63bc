// SPDX-License-Identifier: BSD-3-Clause
#include "layout/halo_links.hpp"

#include <algorithm>

namespace tonari {
namespace {

HaloLinks links(const Decomposition& parts, int rank, const std::vector<Region>& directions_used) {
  HaloLinks all;
  const auto key = [&](std::int64_t sender, Region direction) {
    return sender * (neighbors(parts.dims()) + 1) + direction;
  };
  for (int s = 0; s < parts.subdomains(); ++s)
    for (const Region v : directions_used)
      if (const auto other = parts.neighbor(rank, s, v)) {
        all.send.push_back({s, v, other->rank, key(parts.where(rank, s).number, v)});
        all.receive.push_back({s, v, other->rank, key(other->number, opposite(v, parts.dims()))});
      }
  std::ranges::sort(all.send, {}, &HaloLink::key);
  std::ranges::sort(all.receive, {}, &HaloLink::key);
  return all;
}

int dims_along(Region v, int dims) {
  int along = 0;
  for (int k = 0; k < dims; ++k) along += sign(v, k, dims) != 0;
  return along;
}

}  // namespace

GridBox Reach::narrowed(GridBox box) const {
  for (int k = 0; k < box.dims; ++k) {
    box.lower[k] = std::min(box.lower[k], lower[k]);
    box.upper[k] = std::min(box.upper[k], upper[k]);
  }
  return box;
}

bool Reach::has(const GridBox& box, Region direction) const {
  return dims_along(direction, box.dims) <= along &&
         !empty(ghost_box(narrowed(box), direction), box.dims);
}

HaloLinks halo_links(const Decomposition& parts, int rank, Reach reach) {
  std::vector<Region> used = directions(parts.dims());
  std::erase_if(used, [&](Region v) { return dims_along(v, parts.dims()) > reach.along; });
  return links(parts, rank, used);
}

HaloLinks shift_links(const Decomposition& parts, int rank, int k) {
  std::vector<Region> used = directions(parts.dims());
  std::erase_if(
      used, [&](Region v) { return !is_face(v, parts.dims()) || sign(v, k, parts.dims()) == 0; });
  return links(parts, rank, used);
}

}  // namespace tonari
