// SPDX-License-Identifier: BSD-3-Clause
// Grids whose arrays this program has, in memory of a simulated device or of the host, and what
// every cell of them must hold.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "grid/grids.hpp"
#include "on_device/device_buffers.hpp"

namespace tonari::test {

// A field of a subdomain, in one kind of memory.
class FieldMemory {
 public:
  FieldMemory(SimulatedDevice& device, std::size_t bytes, bool on_device) : here_(bytes) {
    if (on_device) there_ = std::make_unique<MemoryOnDevice>(device, bytes);
    seen_ = there_ ? there_->values<Byte>() : here_.data();
  }
  void* address() { return there_ ? static_cast<void*>(there_->at()) : here_.data(); }
  void put(const std::vector<Byte>& content) {
    if (there_)
      there_->put(content);
    else
      std::ranges::copy(content, here_.begin());
  }
  std::vector<Byte> get() const {
    std::vector<Byte> content = here_;
    if (there_) there_->get(content);
    return content;
  }
  Byte* seen() const { return seen_; }  // where the host sees it; kernels may ask

 private:
  std::vector<Byte> here_;
  std::unique_ptr<MemoryOnDevice> there_;
  Byte* seen_ = nullptr;
};

class DeviceGrid {
 public:
  DeviceGrid(const Geometry& geometry, SimulatedDevice& device, bool on_device,
             int order = TONARI_ORDER_C)
      : g(cut_for(geometry, TONARI_STORAGE_ARRAY)), order_(order) {
    tonari_grid_shape shape = g.shape_of(world_rank());
    shape.order = order, shape.interleaved = 0, shape.page = 0;
    fields = std::max(shape.fields, 1), copies = std::max(shape.copies, 1);
    std::vector<void*> pointers;
    for (int c = 0; c < copies; ++c)
      for_fields([&](int s, int) {
        memory_.emplace_back(device, bytes_of(s), on_device);
        pointers.push_back(memory_.back().address());
      });
    MPI_Comm cart = g.make_cart(alone() ? MPI_COMM_SELF : MPI_COMM_WORLD);
    must(tonari_grid_create(cart, &shape, pointers.data(), MPI_INFO_NULL, &grid));
    MPI_Comm_free(&cart);
  }
  ~DeviceGrid() { must(tonari_grid_free(&grid)); }
  DeviceGrid(const DeviceGrid&) = delete;
  DeviceGrid& operator=(const DeviceGrid&) = delete;

  template <class F>
  void for_fields(F f) const {
    for (int s = 0; s < g.subdomains(); ++s)
      for (int field = 0; field < fields; ++field) f(s, field);
  }
  std::size_t bytes_of(int s) const {
    return static_cast<std::size_t>(cells_in(g.whole(world_rank(), s), g.dims)) * g.element_bytes;
  }
  FieldMemory& memory(int s, int copy, int f) {
    return memory_[static_cast<std::size_t>((copy * g.subdomains() + s) * fields + f)];
  }
  std::vector<void*> arrays(int copy) {
    std::vector<void*> all;
    for_fields([&](int s, int f) { all.push_back(memory(s, copy, f).address()); });
    return all;
  }

  // What a field holds as it lies in memory; before an exchange, or after one of these faces.
  std::vector<Byte> before(int s, int copy, int f, int round) const {
    return in_order(s, expected(g, s, copy, f, round, [](const Index&) { return false; }));
  }
  std::vector<Byte> after(int s, int copy, int f, int round, bool faces = false) const {
    return in_order(s, expected(g, s, copy, f, round, [&](const Index& sides) {
                      const auto signs =
                          std::ranges::count_if(sides, [](std::int64_t side) { return side != 0; });
                      return g.neighbor(world_rank(), s, sides) >= 0 && (!faces || signs == 1);
                    }));
  }
  void fill(int copy, int round) {
    for_fields([&](int s, int f) { memory(s, copy, f).put(before(s, copy, f, round)); });
  }
  // Empty if every cell holds what it must; values: of which copy.
  std::string wrong(int copy, int round, bool faces = false, int values = -1) {
    std::string line;
    for_fields([&](int s, int f) {
      if (memory(s, copy, f).get() != after(s, values < 0 ? copy : values, f, round, faces))
        line = "subdomain " + std::to_string(s) + ", field " + std::to_string(f) + ", copy " +
               std::to_string(copy) + ", round " + std::to_string(round) + "; " + g.text();
    });
    return line;
  }

  // use(place in an array, whether the cell is an own one) for all cells of a subdomain.
  template <class Use>
  void for_places(int s, Use use) const {
    const tonari_box whole = g.whole(world_rank(), s);
    const Index own = g.own(world_rank(), s);
    for_cells(whole, g.dims, [&](const Index& x) {
      bool inside = true;
      for (int k = 0; k < g.dims; ++k) inside = inside && x[k] >= 0 && x[k] < own[k];
      use(place(whole, x) * g.element_bytes, inside);
    });
  }

  const Geometry g;
  tonari_grid grid = TONARI_GRID_NULL;
  int copies = 1, fields = 1;

 private:
  // Whether each rank has a grid of its own.
  bool alone() const {
    return std::all_of(g.ranks.begin(), g.ranks.begin() + g.dims, [](int n) { return n == 1; });
  }
  std::size_t place(const tonari_box& whole, const Index& x) const {
    std::int64_t at = 0;
    for (int i = 0; i < g.dims; ++i) {
      const int k = order_ == TONARI_ORDER_C ? i : g.dims - 1 - i;
      at = at * (whole.end[k] - whole.first[k]) + x[k] - whole.first[k];
    }
    return static_cast<std::size_t>(at);
  }
  // Cells in order C, as the grid's order has them.
  std::vector<Byte> in_order(int s, std::vector<unsigned char> cells) const {
    std::vector<Byte> all(cells.size());
    const tonari_box whole = g.whole(world_rank(), s);
    const unsigned char* from = cells.data();
    for_cells(whole, g.dims, [&](const Index& x) {
      std::memcpy(&all[place(whole, x) * g.element_bytes], from, g.element_bytes);
      from += g.element_bytes;
    });
    return all;
  }

  int order_;
  std::vector<FieldMemory> memory_;
};

inline Geometry draw_small_geometry(Random& random, int dims, int copies) {
  Geometry g = draw_geometry(random, dims, false);
  g.shape.copies = copies;
  return g;
}
inline void free_type(Geometry& g) {
  if (g.ours) MPI_Type_free(&g.shape.type);
}

}  // namespace tonari::test
