// SPDX-License-Identifier: BSD-3-Clause
#include "layout/grid_box.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tonari {
namespace {

struct Range {
  std::int64_t first, end;
};

// A box whose side in dimension j is range(j).
template <class F>
CellBox box_of(int dims, F range) {
  CellBox box;
  for (int j = 0; j < dims; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const Range side = range(at);
    box.first[at] = side.first;
    box.end[at] = side.end;
  }
  return box;
}

Range own_range(const GridBox& box, std::size_t j) { return {0, box.own[j]}; }
// With the ghosts that a neighbor fills.
Range filled_range(const GridBox& box, std::size_t j, const Sides& open) {
  return {open[j][0] ? 0 : -box.lower[j], box.own[j] + (open[j][1] ? 0 : box.upper[j])};
}
Range ghost_range(const GridBox& box, std::size_t j, int sign) {
  return sign < 0 ? Range{-box.lower[j], 0} : Range{box.own[j], box.own[j] + box.upper[j]};
}
Range send_range(const GridBox& box, std::size_t j, int sign) {
  return sign < 0 ? Range{0, box.upper[j]} : Range{box.own[j] - box.lower[j], box.own[j]};
}

template <class F>
CellBox shift_box(const GridBox& box, int k, const Sides& open, F range_at_k) {
  const auto step = static_cast<std::size_t>(k);
  return box_of(box.dims, [&](std::size_t j) {
    return j < step ? filled_range(box, j, open) : j == step ? range_at_k(j) : own_range(box, j);
  });
}

}  // namespace

bool empty(const CellBox& box, int dims) {
  for (std::size_t j = 0; j < static_cast<std::size_t>(dims); ++j)
    if (box.first[j] >= box.end[j]) return true;
  return false;
}

std::int64_t count(const CellBox& box, int dims) {
  if (empty(box, dims)) return 0;
  std::int64_t cells = 1;
  for (std::size_t j = 0; j < static_cast<std::size_t>(dims); ++j)
    cells *= box.end[j] - box.first[j];
  return cells;
}

void check(const GridBox& box) {
  check_surface_dims(box.dims);
  constexpr std::int64_t most = std::int64_t{1} << 62;
  std::int64_t cells = 1;
  for (std::size_t j = 0; j < static_cast<std::size_t>(box.dims); ++j) {
    const std::int64_t own = box.own[j], lower = box.lower[j], upper = box.upper[j];
    if (own < 1)
      fail(Errc::argument, "dimension ", j, " has ", own,
           " own cells: give every subdomain at least one");
    if (lower < 0 || upper < 0)
      fail(Errc::argument, "dimension ", j, " has halo widths ", lower, " and ", upper,
           ": they cannot be negative");
    if (own < std::max(lower, upper))
      fail(Errc::argument, "dimension ", j, " has ", own, " own cells but a halo of ",
           std::max(lower, upper),
           ": a neighbor would need cells that are not there; use fewer ranks along it or a "
           "narrower halo");
    if (own > most / 4 || __builtin_mul_overflow(cells, lower + own + upper, &cells) ||
        cells > most)
      fail(Errc::argument,
           "the subdomain has more than 2^62 cells with its ghosts: use more ranks");
  }
}

CellBox ghost_box(const GridBox& box, Region direction) {
  return box_of(box.dims, [&](std::size_t j) {
    const int side = sign(direction, static_cast<int>(j), box.dims);
    return side == 0 ? own_range(box, j) : ghost_range(box, j, side);
  });
}

CellBox send_box(const GridBox& box, Region direction) {
  return box_of(box.dims, [&](std::size_t j) {
    const int side = sign(direction, static_cast<int>(j), box.dims);
    return side == 0 ? own_range(box, j) : send_range(box, j, side);
  });
}

CellBox region_box(const GridBox& box, Region region) {
  return box_of(box.dims, [&](std::size_t j) {
    const int side = sign(region, static_cast<int>(j), box.dims);
    return side == 0 ? Range{box.upper[j], box.own[j] - box.lower[j]} : send_range(box, j, side);
  });
}

CellBox shift_send_box(const GridBox& box, int k, int sign, const Sides& open) {
  return shift_box(box, k, open, [&](std::size_t j) { return send_range(box, j, sign); });
}

CellBox shift_ghost_box(const GridBox& box, int k, int sign, const Sides& open) {
  return shift_box(box, k, open, [&](std::size_t j) { return ghost_range(box, j, sign); });
}

// All digits turned round: each becomes 2 minus itself.
Region opposite(Region direction, int dims) { return 2 * center(dims) - direction; }

int sign(Region direction, int k, int dims) {
  for (int j = dims - 1; j > k; --j) direction /= 3;
  return direction % 3 - 1;
}

std::vector<Region> directions(int dims) {
  std::vector<Region> all;
  for (Region direction = 0; direction <= neighbors(dims); ++direction)
    if (direction != center(dims)) all.push_back(direction);
  return all;
}

bool is_face(Region direction, int dims) {
  int signs = 0;
  for (int j = 0; j < dims; ++j) signs += sign(direction, j, dims) != 0;
  return signs == 1;
}

}  // namespace tonari
