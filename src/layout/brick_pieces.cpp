// SPDX-License-Identifier: BSD-3-Clause
// What travels between bricks of neighbors: regions, joined to pieces in the same way at both ends.
//
// All follows from where a region is stored (`stored`: the center for the own surface, a direction
// for the ghosts there) and whose regions are meant (`wanted`: those that the neighbor in this
// direction needs). To the neighbor in direction v go the regions that v wants from the own
// surface. They arrive in the ghosts of -v, as all that is stored there. Dimension by dimension, in
// the step of dimension k, what has come from direction w before goes on: from the ghosts of w
// those that
//
//     u = -w in dimensions before k, the side in dimension k, 0 in those after it
//
// wants, and they arrive in the ghosts of -u. With w = 0 that is the own surface towards a face.
#include <algorithm>

#include "layout/brick_layout.hpp"

namespace tonari {
namespace {

// Pieces of a view: those that touch are one.
std::vector<BrickPiece> joined(const std::vector<BrickPiece>& pieces) {
  std::vector<BrickPiece> result;
  for (const BrickPiece& piece : pieces)
    if (!result.empty() && result.back().offset + result.back().bytes == piece.offset)
      result.back().bytes += piece.bytes;
    else
      result.push_back(piece);
  return result;
}

// Tells whether ghosts in direction w are filled.
bool somebody(Region w, const Sides& open, int dims) {
  for (int j = 0; j < dims; ++j)
    if (const int side = sign(w, j, dims); side != 0 && open[index(j)][side > 0]) return false;
  return true;
}

Bytes total(const std::vector<BrickPiece>& pieces) {
  Bytes bytes = 0;
  for (const BrickPiece& piece : pieces) bytes += piece.bytes;
  return bytes;
}

}  // namespace

const BrickLayout::Area& BrickLayout::area(Region stored, int at) const {
  const std::vector<Area>& areas = areas_[index(stored)];
  return *std::lower_bound(areas.begin(), areas.end(), at,
                           [](const Area& area, int i) { return area.at < i; });
}

// Both ends have the same widths, and the same own cells in the dimensions in which they are not
// neighbors.
bool BrickLayout::empty_at_both_ends(Region region, Region wanted) const {
  for (int j = 0; j < box_.dims; ++j) {
    const int side = sign(region, j, box_.dims);
    const std::int64_t lower = lower_[index(j)], upper = upper_[index(j)];
    if (side < 0   ? upper == 0
        : side > 0 ? lower == 0
                   : sign(wanted, j, box_.dims) == 0 && own_[index(j)] == lower + upper)
      return true;
  }
  return false;
}

// Wanted regions between which nothing else is stored, as runs of the order: from the first with
// bricks to the last one.
std::vector<SurfaceRun> BrickLayout::runs_of(Region stored, Region wanted, bool join) const {
  std::vector<SurfaceRun> runs;
  const Region towards_us = opposite(stored, box_.dims);
  bool open = false;
  for (int i = 0; i < static_cast<int>(order_.regions.size()); ++i) {
    const Region region = order_.regions[index(i)];
    if (!needs(towards_us, region, box_.dims) || empty_at_both_ends(region, wanted)) continue;
    if (!needs(wanted, region, box_.dims)) {
      open = false;
      continue;
    }
    if (!open) runs.push_back({i, 0});
    runs.back().count = i - runs.back().first + 1;
    open = join;
  }
  return runs;
}

std::vector<BrickPiece> BrickLayout::pieces(Region stored,
                                            const std::vector<SurfaceRun>& runs) const {
  std::vector<BrickPiece> pieces;
  for (const SurfaceRun& run : runs) {
    const Area &first = area(stored, run.first), &last = area(stored, run.first + run.count - 1);
    pieces.push_back({first.offset, last.offset + last.bytes - first.offset});
  }
  return pieces;
}

std::vector<BrickPiece> BrickLayout::all_fields(const std::vector<BrickPiece>& first_field) const {
  std::vector<BrickPiece> pieces;
  for (Bytes base = 0; base < bytes_; base += field_bytes_)
    for (const BrickPiece& piece : first_field)
      pieces.push_back({base + piece.offset, piece.bytes});
  return pieces;
}

std::vector<BrickPiece> BrickLayout::send(Region direction) const {
  return all_fields(pieces(center(box_.dims), runs_of(center(box_.dims), direction, true)));
}

std::vector<BrickPiece> BrickLayout::receive(Region direction) const {
  return all_fields(
      pieces(direction, runs_of(center(box_.dims), opposite(direction, box_.dims), true)));
}

std::vector<BrickPiece> BrickLayout::send_basic(Region direction) const {
  return all_fields(pieces(center(box_.dims), runs_of(center(box_.dims), direction, false)));
}

std::vector<BrickPiece> BrickLayout::receive_basic(Region direction) const {
  return all_fields(
      pieces(direction, runs_of(center(box_.dims), opposite(direction, box_.dims), false)));
}

std::vector<BrickPiece> BrickLayout::bricks_of(Region stored, Region wanted) const {
  std::vector<BrickPiece> pieces;
  for (const Area& area : areas_[index(stored)])
    if (area.data > 0 && needs(wanted, order_.regions[index(area.at)], box_.dims))
      pieces.push_back({area.first, area.data});
  return joined(all_fields(joined(pieces)));
}

std::vector<BrickPiece> BrickLayout::send_bricks(Region direction) const {
  return bricks_of(center(box_.dims), direction);
}

std::vector<BrickPiece> BrickLayout::receive_bricks(Region direction) const {
  return bricks_of(direction, opposite(direction, box_.dims));
}

BrickPiece BrickLayout::message(Region direction) const {
  const std::vector<SurfaceRun> runs = runs_of(center(box_.dims), direction, true);
  if (runs.empty()) return {};
  const Area &first = area(center(box_.dims), runs.front().first),
             &last = area(center(box_.dims), runs.back().first + runs.back().count - 1);
  const Bytes front = first.first - first.offset,
              behind = last.offset + last.bytes - (last.first + last.data);
  return {front, total(send(direction)) - front - behind};
}

std::vector<BrickPiece> BrickLayout::shift_send(int k, int sign, const Sides& open) const {
  return shift(k, sign, open, Side::send);
}
std::vector<BrickPiece> BrickLayout::shift_receive(int k, int sign, const Sides& open) const {
  return shift(k, sign, open, Side::receive);
}

// Pieces of different w are not joined: what lies side by side here may not do so there.
std::vector<BrickPiece> BrickLayout::shift(int k, int sign, const Sides& open, Side side) const {
  const int dims = box_.dims;
  Region unit = 1;  // the digit of dimension k
  for (int j = k + 1; j < dims; ++j) unit *= 3;
  const int towards = side == Side::send ? sign : -sign;  // from the sending rank
  std::vector<BrickPiece> all;
  const auto add = [&](Region w) {
    const Region wanted = opposite(w, dims) + towards * unit;
    const std::vector<BrickPiece> some =
        pieces(side == Side::send ? w : opposite(wanted, dims), runs_of(w, wanted, true));
    all.insert(all.end(), some.begin(), some.end());
  };
  add(center(dims));
  for (Region w : directions(dims))
    // 0 in dimension k and those after it
    if ((w - center(dims)) % (3 * unit) == 0 && somebody(w, open, dims)) add(w);
  return all_fields(all);
}

Bytes BrickLayout::payload(Region direction) const {
  Bytes bytes = 0;
  for (const Area& area : areas_[index(center(box_.dims))])
    if (needs(direction, order_.regions[index(area.at)], box_.dims)) bytes += area.data;
  return bytes * (bytes_ / field_bytes_);
}

double padding_percent(const BrickLayout& layout) {
  Bytes sent = 0, payload = 0;
  for (Region direction : directions(layout.box().dims)) {
    sent += layout.message(direction).bytes;
    payload += layout.payload(direction);
  }
  return payload == 0 ? 0 : 100 * (static_cast<double>(sent) / static_cast<double>(payload) - 1);
}

std::int64_t mappings(const BrickLayout& layout, ViewKind kind) {
  const int dims = layout.box().dims;
  std::size_t count = 1;
  if (kind == ViewKind::shift) {
    for (int k = 0; k < dims; ++k)
      for (int sign : {-1, 1})
        count += joined(layout.shift_send(k, sign)).size() +
                 joined(layout.shift_receive(k, sign)).size();
    return static_cast<std::int64_t>(count);
  }
  for (Region direction : directions(dims)) {
    if (kind == ViewKind::ghosts) {
      count += 2 * layout.receive(direction).size();
      continue;
    }
    const std::size_t received = joined(layout.receive(direction)).size();
    // ghosts that are one piece are there already
    count += joined(layout.send(direction)).size() + (received > 1 ? received : 0);
  }
  return static_cast<std::int64_t>(count);
}

}  // namespace tonari
