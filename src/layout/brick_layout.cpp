// SPDX-License-Identifier: BSD-3-Clause
#include "layout/brick_layout.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace tonari {
namespace {

// f(x) for all x of the box in lexicographic order.
template <class F>
void for_each(const CellBox& box, int dims, F f) {
  if (empty(box, dims)) return;
  Cells x = box.first;
  for (int j = dims - 1; j >= 0;) {
    f(x);
    for (j = dims - 1; j >= 0 && ++x[index(j)] == box.end[index(j)]; --j)
      x[index(j)] = box.first[index(j)];
  }
}

Bytes round_up(Bytes bytes, Bytes unit) {
  return checked_add(bytes, unit - 1, "bytes of a subdomain") / unit * unit;
}

// Padding at the ends of a message need not travel. So a region that more messages begin with than
// end with has its padding in front (and all others behind), which is the best that can be done for
// an order if all its regions have bricks. It depends on the order alone: both ends store a region
// alike. The authors' program decides by the regions beside it instead.
std::vector<bool> padded_in_front(const SurfaceOrder& order) {
  std::vector<int> begins(order.regions.size()), ends(order.regions.size());
  for (Region direction : directions(order.dims)) {
    const std::vector<SurfaceRun> needed = runs(order, direction);
    ++begins[index(needed.front().first)];
    ++ends[index(needed.back().first + needed.back().count - 1)];
  }
  std::vector<bool> front(order.regions.size());
  for (std::size_t i = 0; i < front.size(); ++i) front[i] = begins[i] > ends[i];
  return front;
}

// The bricks of a region within the ghosts of a direction: all of the ghosts' width in dimensions
// in which they are beside us, else as in the own surface, as both have the same there.
CellBox stored_box(const GridBox& bricks, Region direction, Region region) {
  CellBox box = region_box(bricks, region);
  const CellBox ghosts = ghost_box(bricks, direction);
  for (int j = 0; j < bricks.dims; ++j)
    if (sign(direction, j, bricks.dims) != 0) {
      box.first[index(j)] = ghosts.first[index(j)];
      box.end[index(j)] = ghosts.end[index(j)];
    }
  return box;
}

}  // namespace

BrickLayout::BrickLayout(const GridBox& box, const BrickShape& shape, const SurfaceOrder& order)
    : box_(box), shape_(shape), order_(order) {
  check(box);
  check_shape();
  count_bricks();
  lay_out();
  find_neighbors();
}

void BrickLayout::check_shape() const {
  std::vector<Region> regions = order_.regions;
  std::sort(regions.begin(), regions.end());
  if (order_.dims != box_.dims || regions != directions(box_.dims))
    fail(Errc::argument, "a grid of ", box_.dims,
         " dimensions needs an order in which each of its ", tonari::neighbors(box_.dims),
         " surface regions is once");
  for (std::size_t j = 0; j < index(box_.dims); ++j) {
    const std::int64_t brick = shape_.brick[j], own = box_.own[j], lower = box_.lower[j],
                       upper = box_.upper[j];
    if (brick < 1)
      fail(Errc::argument, "bricks have ", brick, " cells along dimension ", j,
           ": they need at least one");
    if (own % brick != 0)
      fail(Errc::argument, "the ", own, " own cells along dimension ", j,
           " are no multiple of the brick (", brick, "): change one of them");
    if (lower % brick != 0 || upper % brick != 0)
      fail(Errc::argument, "the halo widths ", lower, " and ", upper, " along dimension ", j,
           " are no multiples of the brick (", brick, "): widen the halo or take smaller bricks");
    if (own < lower + upper)
      fail(Errc::argument, "dimension ", j, " has ", own, " own cells, less than its halo widths ",
           lower, " and ", upper,
           " together, so that bricks would belong to both surfaces: use fewer ranks along it, a "
           "narrower halo, or an array");
  }
  if (shape_.element_bytes < 1)
    fail(Errc::argument, "elements of ", shape_.element_bytes, " bytes: they need at least one");
  if (shape_.fields < 1)
    fail(Errc::argument, "a grid of ", shape_.fields, " fields: it needs at least one");
  if (shape_.unit < 1)
    fail(Errc::argument, "a unit of ", shape_.unit,
         " bytes: it is the page size, or 1 for storage that is not mapped");
  if (shape_.unit > 1 && shape_.unit % shape_.element_bytes != 0)
    fail(Errc::argument, "the unit of ", shape_.unit, " bytes is no multiple of the element's ",
         shape_.element_bytes,
         ": choose another element size for grids that are mapped, or do not map this one");
}

void BrickLayout::count_bricks() {
  std::int64_t all = 1;
  for (std::size_t j = 0; j < index(box_.dims); ++j) {
    lower_[j] = box_.lower[j] / shape_.brick[j];
    own_[j] = box_.own[j] / shape_.brick[j];
    upper_[j] = box_.upper[j] / shape_.brick[j];
    all *= lower_[j] + own_[j] + upper_[j];  // no more than cells, which check(box) has counted
  }
  if (all >= std::numeric_limits<std::int32_t>::max())
    fail(
        Errc::overflow, "the subdomain has ", all,
        " bricks with its ghosts, but their numbers have 31 bits: use larger bricks or more ranks");
  number_.resize(index(all));
  position_.reserve(index(all * box_.dims));
  place_.reserve(index(all) + 1);
}

// Interior, surface regions, ghosts, nowhere: bricks are numbered and placed in one go.
void BrickLayout::lay_out() {
  constexpr const char* what = "bytes of a subdomain";
  const GridBox bricks{box_.dims, own_, lower_, upper_};
  const std::vector<bool> front = padded_in_front(order_);
  brick_bytes_ = static_cast<Bytes>(shape_.element_bytes);
  for (std::size_t j = 0; j < index(box_.dims); ++j)
    brick_bytes_ = checked_multiply(brick_bytes_, static_cast<Bytes>(shape_.brick[j]), what);
  field_stride_ = static_cast<std::int64_t>(brick_bytes_) / shape_.element_bytes;
  if (shape_.interleaved)
    brick_bytes_ = checked_multiply(brick_bytes_, static_cast<Bytes>(shape_.fields), what);

  Bytes end = 0;
  add(region_box(bricks, center(box_.dims)), -1, false, end);
  interior_count_ = static_cast<std::int32_t>(place_.size());
  areas_.resize(index(tonari::neighbors(box_.dims)) + 1);
  // at the center every region, else those that this neighbor sends
  const auto add_all = [&](Region direction) {
    const Region towards_us = opposite(direction, box_.dims);
    for (std::size_t i = 0; i < order_.regions.size(); ++i)
      if (const Region region = order_.regions[i]; needs(towards_us, region, box_.dims))
        areas_[index(direction)].push_back(
            add(stored_box(bricks, direction, region), static_cast<int>(i), front[i], end));
  };
  add_all(center(box_.dims));
  own_count_ = static_cast<std::int32_t>(place_.size());
  for (Region direction : directions(box_.dims)) add_all(direction);

  // nowhere
  place_.push_back(static_cast<std::int64_t>(end / static_cast<Bytes>(shape_.element_bytes)));
  field_bytes_ = round_up(checked_add(end, brick_bytes_, what), static_cast<Bytes>(shape_.unit));
  bytes_ = shape_.interleaved
               ? field_bytes_
               : checked_multiply(field_bytes_, static_cast<Bytes>(shape_.fields), what);
  checked_cast<std::int64_t>(bytes_, what);
  if (!shape_.interleaved)
    field_stride_ = static_cast<std::int64_t>(field_bytes_) / shape_.element_bytes;
}

// A region's bricks in whole units from `end` on, which moves behind them.
BrickLayout::Area BrickLayout::add(const CellBox& bricks, int at, bool padding_in_front,
                                   Bytes& end) {
  Area area{at, end, 0, end,
            checked_multiply(static_cast<Bytes>(tonari::count(bricks, box_.dims)), brick_bytes_,
                             "bytes of a subdomain")};
  area.bytes = round_up(area.data, static_cast<Bytes>(shape_.unit));
  if (padding_in_front) area.first += area.bytes - area.data;
  end = checked_add(end, area.bytes, "bytes of a subdomain");
  Bytes next = area.first;
  for_each(bricks, box_.dims, [&](const Cells& x) {
    std::int64_t at_x = 0;
    for (std::size_t j = 0; j < index(box_.dims); ++j) {
      at_x = at_x * (lower_[j] + own_[j] + upper_[j]) + x[j] + lower_[j];
      position_.push_back(static_cast<std::int32_t>(x[j]));
    }
    number_[index(at_x)] = static_cast<std::int32_t>(place_.size());
    place_.push_back(static_cast<std::int64_t>(next / static_cast<Bytes>(shape_.element_bytes)));
    next += brick_bytes_;
  });
  return area;
}

// Beyond the ghosts is brick `count`, whose neighbors are itself.
void BrickLayout::find_neighbors() {
  const std::size_t dims = index(box_.dims), all = index(tonari::neighbors(box_.dims)) + 1,
                    bricks = number_.size();
  neighbors_.assign((bricks + 1) * all, count());
  std::vector<Cells> steps(all);
  for (std::size_t v = 0; v < all; ++v)
    for (std::size_t j = 0; j < dims; ++j)
      steps[v][j] = lower_[j] + sign(static_cast<Region>(v), static_cast<int>(j), box_.dims);
  for (std::size_t b = 0; b < bricks; ++b)
    for (std::size_t v = 0; v < all; ++v) {
      std::int64_t at = 0;
      bool there = true;
      for (std::size_t j = 0; j < dims; ++j) {
        const std::int64_t side = lower_[j] + own_[j] + upper_[j];
        const std::int64_t x = position_[b * dims + j] + steps[v][j];
        there = there && x >= 0 && x < side;
        at = at * side + x;
      }
      if (there) neighbors_[b * all + v] = number_[index(at)];
    }
}

}  // namespace tonari
