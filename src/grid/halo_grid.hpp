// SPDX-License-Identifier: BSD-3-Clause
// A grid with halos: its subdomains on this rank, and the memory they are stored in.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "copy/moves.hpp"
#include "engine/comm/context.hpp"
#include "grid/ghost_maps.hpp"
#include "grid/grid_device.hpp"
#include "grid/grid_layout.hpp"
#include "grid/shown_surface.hpp"
#include "memory/mapped_file.hpp"
#include "memory/memory.hpp"

namespace tonari {

class HaloGrid {
 public:
  // Collective. `shape` is as read_shape made it. `arrays` are the program's, copies x subdomains x
  // fields, or null. Throws the same on all ranks.
  HaloGrid(const std::shared_ptr<SharedComm>& shared, GridShape shape, void* const arrays[]);
  HaloGrid(const HaloGrid&) = delete;
  HaloGrid& operator=(const HaloGrid&) = delete;

  const GridShape& shape() const { return layout_->shape(); }
  const std::shared_ptr<Context>& context() const { return context_; }
  int rank() const { return context_->rank(); }
  int subdomains() const { return layout_->subdomains(); }
  const GridBox& box(int subdomain) const { return layout_->box(subdomain); }

  std::byte* base(int subdomain, int copy, int field) const;
  std::uint64_t field_bytes(int subdomain) const;  // of an array, ghosts included
  // Where this rank's cells lie, and whether those of any rank lie on a device.
  const GridDevice& device() const { return device_; }
  bool some_on_device() const { return some_on_device_; }
  bool all_on_device() const { return all_on_device_; }  // of all ranks
  // Whether ghosts that this rank owns are mapped, so that no message brings them.
  bool shows(int owner) const {
    if (ghost_maps_) return ghost_maps_->reaches(owner);
    return shown_ && owner == rank();
  }
  // Messages of this rank to itself that mapped ghosts on its device spare.
  std::size_t spared_on_device() const { return shown_ ? shown_->ghosts() : 0; }

  // bricked storages
  const BrickLayout& bricks(int subdomain) const { return layout_->bricks(subdomain); }
  tonari_array array(int subdomain) const;
  std::byte* cell(int subdomain, int copy, int field, const Cells& index) const;
  // use(address, bytes) for the contiguous pieces of `box` (within the ghosts), its cells in
  // the grid's order.
  template <class Use>
  void for_each_piece(int subdomain, int copy, int field, const CellBox& box, Use use) const;
  // The same as a layout on address 0.
  Layout cells(int subdomain, int copy, int field, const CellBox& box) const;

  // Mapped storages of the host: the file, and where in it a copy of a subdomain begins.
  const MappedFile& file() const { return *file_; }
  std::uint64_t file_offset(int subdomain, int copy) const {
    return layout_->file_offset(rank(), subdomain, copy);
  }
  std::byte* storage(int subdomain, int copy) const;           // bricked: first byte
  GhostMaps* ghost_maps() const { return ghost_maps_.get(); }  // null: ghosts are this rank's own

  std::int64_t mappings() const { return mappings_; }
  std::uint64_t bytes() const { return bytes_; }

  // Live requests: the grid cannot be freed while there are any.
  std::atomic<int> requests = 0;

 private:
  void take_arrays(void* const arrays[]);
  void allocate();
  std::byte* allocate(std::uint64_t bytes);
  void map_storage();
  void map_on_device(Bytes bytes);

  std::size_t number(int subdomain, int copy) const { return layout_->number(subdomain, copy); }

  std::shared_ptr<Context> context_;
  std::optional<GridLayout> layout_;
  // storage array: copies x subdomains x fields
  std::vector<std::byte*> arrays_;
  std::vector<Memory> memory_;               // array, brick; of the host
  std::unique_ptr<DeviceMemory> on_device_;  // or this
  std::unique_ptr<ShownSurface> shown_;      // mapped, on a device
  std::vector<std::byte*> storage_;          // unless `file_`: the first byte of each copy
  std::shared_ptr<const MappedFile> file_;   // mapped
  std::vector<View> views_;                  // mapped: copies x subdomains
  std::unique_ptr<GhostMaps> ghost_maps_;
  std::int64_t mappings_ = 0;
  std::uint64_t bytes_ = 0;
  GridDevice device_;
  bool some_on_device_ = false, all_on_device_ = false;
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
  const int last = by_speed(0, shape().dims(), shape().order);
  if (empty(box, shape().dims())) return;
  Cells at = box.first;
  do {
    for (at[last] = box.first[last]; at[last] < box.end[last];) {
      const std::int64_t left = box.end[last] - at[last];
      const std::int64_t unit = shape().bricked() ? shape().brick[last] : left;
      const std::int64_t within = shape().bricked() ? (at[last] % unit + unit) % unit : 0;
      const std::int64_t some = std::min(left, unit - within);
      use(cell(subdomain, copy, field, at), static_cast<std::size_t>(some) * shape().element_bytes);
      at[last] += some;
    }
    at[last] = box.first[last];
  } while (next_row(at, box, shape().dims(), shape().order));
}

}  // namespace tonari
