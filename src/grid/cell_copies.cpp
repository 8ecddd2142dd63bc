// SPDX-License-Identifier: BSD-3-Clause
#include "grid/cell_copies.hpp"

#include <cstring>
#include <utility>

#include "packing/pinned_copy.hpp"

namespace tonari {
namespace {

// The cells on their device, and pinned memory for them.
PinnedCopy pinned_box(const HaloGrid& grid, const Layout& cells, PinnedCopy::Way way) {
  return PinnedCopy(grid.device().devices, grid.device().number, {{nullptr, &cells, cells.bytes()}},
                    way);
}

void run(PinnedCopy& copy) {
  copy.put_on(copy.own_stream());
  copy.wait();
}

}  // namespace

void write_box(const HaloGrid& grid, int subdomain, int copy, int field, const CellBox& box,
               const std::byte* from) {
  if (!grid.device())
    return grid.for_each_piece(subdomain, copy, field, box, [&](std::byte* at, std::size_t bytes) {
      std::memcpy(at, std::exchange(from, from + bytes), bytes);
    });
  const Layout cells = grid.cells(subdomain, copy, field, box);
  if (cells.bytes() == 0) return;
  PinnedCopy pinned = pinned_box(grid, cells, PinnedCopy::Way::to_device);
  std::memcpy(pinned.host(), from, cells.bytes());
  run(pinned);
}

void read_box(const HaloGrid& grid, int subdomain, int copy, int field, const CellBox& box,
              std::byte* to) {
  if (!grid.device())
    return grid.for_each_piece(subdomain, copy, field, box,
                               [&](const std::byte* at, std::size_t bytes) {
                                 std::memcpy(std::exchange(to, to + bytes), at, bytes);
                               });
  const Layout cells = grid.cells(subdomain, copy, field, box);
  if (cells.bytes() == 0) return;
  PinnedCopy pinned = pinned_box(grid, cells, PinnedCopy::Way::to_host);
  run(pinned);
  std::memcpy(to, pinned.host(), cells.bytes());
}

}  // namespace tonari
