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

}  // namespace

HaloLinks halo_links(const Decomposition& parts, int rank, Reach reach) {
  std::vector<Region> used = directions(parts.dims());
  if (reach == Reach::faces)
    std::erase_if(used, [&](Region v) { return !is_face(v, parts.dims()); });
  return links(parts, rank, used);
}

HaloLinks shift_links(const Decomposition& parts, int rank, int k) {
  std::vector<Region> used = directions(parts.dims());
  std::erase_if(
      used, [&](Region v) { return !is_face(v, parts.dims()) || sign(v, k, parts.dims()) == 0; });
  return links(parts, rank, used);
}

}  // namespace tonari
