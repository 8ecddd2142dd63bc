// SPDX-License-Identifier: BSD-3-Clause
#include "vector/box_lists.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/checked.hpp"
#include "engine/comm/read_topology.hpp"
#include "request/guard.hpp"

namespace tonari {
namespace {

// The last dimension varies fastest.
template <class Use>
void for_each_point(const CellBox& box, int dims, Use use) {
  if (empty(box, dims)) return;
  Cells at = box.first;
  for (int k = dims - 1; k >= 0;) {
    use(at);
    for (k = dims - 1; k >= 0 && ++at[k] == box.end[k]; --k) at[k] = box.first[k];
  }
}

std::int64_t offset_in(const Cells& at, const Cells& points, int dims) {
  std::int64_t place = 0;
  for (int k = 0; k < dims; ++k) place = place * points[k] + at[k];
  return place;
}

// Faces come first, then edges, then corners: those off along dimension 0 before others, and of
// these the lower side before the upper one.
auto order_of(Region direction, int dims) {
  std::array<bool, most_surface_dims> level{};
  for (int k = 0; k < dims; ++k) level[k] = sign(direction, k, dims) == 0;
  return std::tuple(shared_signs(direction, direction, dims), level, direction);
}

std::vector<Region> directions_in_order(int dims, int along) {
  std::vector<Region> some = directions(dims);
  if (along > 0) std::erase_if(some, [&](Region d) { return shared_signs(d, d, dims) > along; });
  std::ranges::sort(some, {}, [&](Region d) { return order_of(d, dims); });
  return some;
}

void expect_same(int mine, int theirs, const char* name, std::int32_t rank, std::int32_t other) {
  if (mine != theirs)
    fail(Errc::mismatch, "`", name, "` is ", mine, " on rank ", rank, " and ", theirs, " on rank ",
         other, "; it must be the same on all ranks");
}

}  // namespace

void BoxLists::check(int /*ranks*/) const {
  const Grid ranks = require_grid(cart_, most_surface_dims);
  require(cells_.address(), "cells");
  const int dims = ranks.dimensions();
  for (int k = 0; k < dims; ++k)
    if (cells_[static_cast<std::size_t>(k)] < 1)
      fail(Errc::argument, "`cells`[", k, "] is ", cells_[static_cast<std::size_t>(k)],
           "; a box has at least one cell along each dimension");
  if (kind_.width < 1) fail(Errc::argument, "`width` is ", kind_.width, "; it must be at least 1");
  if (kind_.along < 0 || kind_.along > dims)
    fail(Errc::argument, "`along` is ", kind_.along, "; it must be from 1 to ", dims,
         ", the number of dimensions, or 0 for all of them");
  tonari::check(box(ranks));
}

// Sides without a neighbor anywhere need no points for one.
GridBox BoxLists::box(const Grid& ranks) const {
  GridBox box{ranks.dimensions(), {}, {}, {}};
  for (int k = 0; k < box.dims; ++k) {
    box.own[k] = checked_add<std::int64_t>(cells_[static_cast<std::size_t>(k)], kind_.overlap,
                                           "points of a box");
    if (ranks.size(k) > 1 || ranks.periodic(k)) box.lower[k] = box.upper[k] = kind_.width;
  }
  return box;
}

std::int64_t BoxLists::owned() const {
  const GridBox mine = box(require_grid(cart_, most_surface_dims));
  return count({{}, mine.own}, mine.dims);
}

std::vector<BoxLists::Neighbor> BoxLists::neighbors_of(const Grid& ranks, std::int32_t rank) const {
  const int dims = ranks.dimensions();
  std::vector<Neighbor> neighbors;
  for (const Region direction : directions_in_order(dims, kind_.along)) {
    Vec there = ranks.coordinates(rank);
    for (int k = 0; k < dims; ++k) there[k] += sign(direction, k, dims);
    const int at = ranks.rank_at(there);
    if (at >= 0) neighbors.push_back({direction, at});
  }
  return neighbors;
}

// Neighbors tell each other what they have, and compare it.
void BoxLists::introduce(BspComm& bsp, const GridBox& mine, std::int64_t first,
                         std::vector<Neighbor>& neighbors) const {
  std::vector<Word> words{kind_.overlap, kind_.width, kind_.along, first};
  words.insert(words.end(), mine.own.begin(), mine.own.end());
  std::set<std::int32_t> told;
  for (const Neighbor& neighbor : neighbors)
    if (told.insert(neighbor.rank).second) bsp.send(0, neighbor.rank, words);
  bsp.exchange();
  std::map<std::int32_t, std::span<const Word>> said;
  for (const BspMessage& m : bsp.inbox(0)) said[m.from] = m.words;
  for (Neighbor& neighbor : neighbors) {
    // A rank that says nothing gave another `along`; who lies across a face from it finds that out.
    if (!said.contains(neighbor.rank)) continue;
    const std::span<const Word> theirs = said[neighbor.rank];
    neighbor.first = theirs[3];
    std::ranges::copy(theirs.subspan(4), neighbor.points.begin());
    compare(
        bsp.here()[0], mine, neighbor,
        {static_cast<int>(theirs[0]), static_cast<int>(theirs[1]), static_cast<int>(theirs[2])});
  }
}

void BoxLists::compare(std::int32_t rank, const GridBox& mine, const Neighbor& neighbor,
                       const BoxKind& theirs) const {
  if (theirs.overlap != kind_.overlap)
    fail(Errc::mismatch, "rank ", kind_.overlap ? rank : neighbor.rank,
         " makes a vector of nodes where rank ", kind_.overlap ? neighbor.rank : rank,
         " makes one of cells");
  expect_same(kind_.width, theirs.width, "width", rank, neighbor.rank);
  expect_same(kind_.along, theirs.along, "along", rank, neighbor.rank);
  for (int k = 0; k < mine.dims; ++k)
    if (sign(neighbor.direction, k, mine.dims) == 0 && mine.own[k] != neighbor.points[k])
      fail(Errc::mismatch, "`cells`[", k, "] is ", mine.own[k] - kind_.overlap, " on rank ", rank,
           " and ", neighbor.points[k] - kind_.overlap, " on rank ", neighbor.rank,
           "; boxes that touch must have the same number of cells along their common sides");
}

std::int64_t BoxLists::index_at(const Neighbor& neighbor, const GridBox& mine,
                                const Cells& at) const {
  Cells there = at;
  for (int k = 0; k < mine.dims; ++k) {
    const int side = sign(neighbor.direction, k, mine.dims);
    if (side < 0) there[k] += neighbor.points[k] - kind_.overlap;
    if (side > 0) there[k] -= mine.own[k] - kind_.overlap;
  }
  return neighbor.first + offset_in(there, neighbor.points, mine.dims);
}

ListedNeeds BoxLists::needs(BspComm& bsp, const OwnedRanges& /*ranges*/, OwnedRange own) const {
  const Grid ranks = require_grid(cart_, most_surface_dims);
  std::vector<Neighbor> neighbors = neighbors_of(ranks, bsp.here()[0]);
  const GridBox mine = box(ranks);
  introduce(bsp, mine, own.first, neighbors);
  return needs_of(mine, own.first, neighbors);
}

// The lowest rank that has a node owns it. Indices ascend with ranks, so it has the lowest one.
ListedNeeds BoxNodes::needs_of(const GridBox& mine, std::int64_t first,
                               const std::vector<Neighbor>& neighbors) const {
  std::map<std::int64_t, std::int64_t> lowest;  // by place, for nodes on the surface
  for (const Neighbor& neighbor : neighbors)
    for_each_point(send_box(mine, neighbor.direction), mine.dims, [&](const Cells& at) {
      const std::int64_t place = offset_in(at, mine.own, mine.dims);
      std::int64_t& index = lowest.try_emplace(place, first + place).first->second;
      index = std::min(index, index_at(neighbor, mine, at));
    });
  ListedNeeds needs;
  for (const auto& [place, index] : lowest)
    if (index != first + place) needs.indices.push_back(index), needs.places.push_back(place);
  return needs;
}

ListedNeeds BoxCells::needs_of(const GridBox& mine, std::int64_t /*first*/,
                               const std::vector<Neighbor>& neighbors) const {
  ListedNeeds needs;
  for (const Neighbor& neighbor : neighbors)
    for_each_point(ghost_box(mine, neighbor.direction), mine.dims,
                   [&](const Cells& at) { needs.indices.push_back(index_at(neighbor, mine, at)); });
  return needs;
}

}  // namespace tonari
