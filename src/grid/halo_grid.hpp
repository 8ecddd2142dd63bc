// SPDX-License-Identifier: BSD-3-Clause
// A grid with halos: its subdomains on this rank, and the memory they are stored in.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "copy/moves.hpp"
#include "engine/context.hpp"
#include "grid/shape.hpp"
#include "layout/brick_layout.hpp"
#include "memory/mapped_file.hpp"
#include "memory/memory.hpp"

namespace tonari {

class GhostMaps;

class HaloGrid {
 public:
  // Collective. `shape` is as read_shape made it. `arrays` are the program's, copies x subdomains x
  // fields, or null. Throws the same on all ranks.
  HaloGrid(const std::shared_ptr<SharedComm>& shared, GridShape shape, void* const arrays[]);
  ~HaloGrid();
  HaloGrid(const HaloGrid&) = delete;
  HaloGrid& operator=(const HaloGrid&) = delete;

  const GridShape& shape() const { return shape_; }
  const std::shared_ptr<Context>& context() const { return context_; }
  int rank() const { return context_->rank(); }
  int subdomains() const { return static_cast<int>(boxes_.size()); }
  const GridBox& box(int subdomain) const { return boxes_[static_cast<std::size_t>(subdomain)]; }

  std::byte* base(int subdomain, int copy, int field) const;
  // bricked storages
  const BrickLayout& bricks(int subdomain) const {
    return *bricks_[static_cast<std::size_t>(subdomain)];
  }
  tonari_array array(int subdomain) const;
  std::byte* cell(int subdomain, int copy, int field, const Cells& index) const;
  // use(address, bytes) for the contiguous pieces of `box` (within the ghosts), its cells in
  // the grid's order.
  template <class Use>
  void for_each_piece(int subdomain, int copy, int field, const CellBox& box, Use use) const;
  // The same as a layout on address 0.
  Layout cells(int subdomain, int copy, int field, const CellBox& box) const;

  // Mapped storages: the file, and where in it a copy of a subdomain of any rank begins.
  const MappedFile& file() const { return *file_; }
  std::uint64_t file_offset(int rank, int subdomain, int copy) const;
  const BrickLayout& bricks_of(const GridBox& box) const;      // of any rank
  std::byte* storage(int subdomain, int copy) const;           // bricked: first byte
  GhostMaps* ghost_maps() const { return ghost_maps_.get(); }  // null: ghosts are this rank's own

  std::int64_t mappings() const { return mappings_; }
  std::uint64_t bytes() const { return bytes_; }
  std::size_t number(int subdomain, int copy) const {
    return static_cast<std::size_t>(copy) * boxes_.size() + static_cast<std::size_t>(subdomain);
  }

  // Live requests: the grid cannot be freed while there are any.
  std::atomic<int> requests = 0;

 private:
  void lay_out();
  void take_arrays(void* const arrays[]);
  void allocate();
  void map_storage();

  GridShape shape_;
  std::shared_ptr<Context> context_;
  std::vector<GridBox> boxes_;
  mutable std::map<Cells, std::shared_ptr<const BrickLayout>> layouts_;  // by own cells
  std::vector<const BrickLayout*> bricks_;  // of this rank's subdomains
  // storage array: copies x subdomains x fields
  std::vector<std::byte*> arrays_;
  std::vector<Memory> memory_;              // array, brick
  std::shared_ptr<const MappedFile> file_;  // mapped
  std::vector<View> views_;                 // mapped: copies x subdomains
  std::unique_ptr<GhostMaps> ghost_maps_;
  std::int64_t mappings_ = 0;
  std::uint64_t bytes_ = 0;
};

// The next cell of the box in its order but for the fastest dimension; false after the last.
inline bool next_row(Cells& at, const CellBox& box, int dims, ArrayOrder order) {
  for (int i = 1; i < dims; ++i) {
    const int k = by_speed(i, dims, order);
    if (++at[k] < box.end[k]) return true;
    at[k] = box.first[k];
  }
  return false;
}

template <class Use>
void HaloGrid::for_each_piece(int subdomain, int copy, int field, const CellBox& box,
                              Use use) const {
  const int last = by_speed(0, shape_.dims(), shape_.order);
  if (empty(box, shape_.dims())) return;
  Cells at = box.first;
  do {
    for (at[last] = box.first[last]; at[last] < box.end[last];) {
      const std::int64_t left = box.end[last] - at[last];
      const std::int64_t unit = shape_.bricked() ? shape_.brick[last] : left;
      const std::int64_t inside = shape_.bricked() ? (at[last] % unit + unit) % unit : 0;
      const std::int64_t some = std::min(left, unit - inside);
      use(cell(subdomain, copy, field, at), static_cast<std::size_t>(some) * shape_.element_bytes);
      at[last] += some;
    }
    at[last] = box.first[last];
  } while (next_row(at, box, shape_.dims(), shape_.order));
}

}  // namespace tonari
