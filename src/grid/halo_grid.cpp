// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo_grid.hpp"

#include <cstring>

#include "base/checked.hpp"
#include "engine/wait/agree.hpp"
#include "memory/pages.hpp"
#include "mpi/mpi_error.hpp"

namespace tonari {
namespace {

// Grids that are neither array nor narrower than their halos are stored in whole pages, so that
// rows of bricks lie as vectors want them.
constexpr std::size_t alignment = 4096;

std::byte* aligned(const Memory& memory) {
  return reinterpret_cast<std::byte*>(
      round_up(reinterpret_cast<std::uintptr_t>(memory.data()), alignment));
}

Memory zeroed(std::uint64_t bytes) {
  Memory memory(checked_add<std::uint64_t>(bytes, alignment, "size of the grid"));
  std::memset(memory.data(), 0, memory.bytes());
  return memory;
}

std::int64_t cells_with_ghosts(const GridBox& box) {
  std::int64_t product = 1;
  for (int k = 0; k < box.dims; ++k)
    product =
        checked_multiply(product, box.lower[k] + box.own[k] + box.upper[k], "cells of a subdomain");
  return product;
}

}  // namespace

HaloGrid::HaloGrid(const std::shared_ptr<SharedComm>& shared, GridShape shape,
                   void* const arrays[]) {
  shared->update_nodes();
  context_ = std::make_shared<Context>(shared);
  const std::optional<Error> error = error_of([&] {
    layout_.emplace(std::move(shape), rank());
    if (arrays)
      take_arrays(arrays);
    else
      allocate();
  });
  const Ballot here = std::uint64_t{device_ ? 1u : 0u};
  std::vector<std::uint64_t> most;
  const bool same = agree(context_->comm(), error, std::span(&here, 1), &most)[0];
  some_on_device_ = most[0] != 0;
  all_on_device_ = same && some_on_device_;
  if (!layout_->shape().mapped_ghosts || some_on_device_) return;
  run_collectively(context_->comm(), [&] {
    ghost_maps_ = std::make_unique<GhostMaps>(*context_, *layout_, *file_, views_);
  });
}

void HaloGrid::take_arrays(void* const arrays[]) {
  if (shape().bricked())
    fail(Errc::argument,
         "a program's own arrays can be wrapped by storage array only; pass NULL and copy them in "
         "with tonari_grid_import");
  if (shape().device)
    fail(Errc::argument,
         "shape.memory is about memory that tonari allocates, and these arrays are the program's; "
         "pass NULL, or leave shape.memory TONARI_MEMORY_HOST");
  const std::size_t count = static_cast<std::size_t>(subdomains()) *
                            static_cast<std::size_t>(shape().copies) *
                            static_cast<std::size_t>(shape().fields);
  for (std::size_t i = 0; i < count; ++i) {
    if (!arrays[i])
      fail(Errc::argument, "array ", i, " of ", count, " (copies x subdomains x fields) is NULL");
    arrays_.push_back(static_cast<std::byte*>(arrays[i]));
  }
  std::vector<Bytes> bytes;
  for (int c = 0; c < shape().copies; ++c)
    for (int s = 0; s < subdomains(); ++s)
      bytes.insert(bytes.end(), static_cast<std::size_t>(shape().fields), field_bytes(s));
  device_ = device_of_arrays(arrays_, bytes);
}

std::uint64_t HaloGrid::field_bytes(int subdomain) const {
  return checked_multiply<std::uint64_t>(
      static_cast<std::uint64_t>(cells_with_ghosts(box(subdomain))), shape().element_bytes,
      "bytes of a field");
}

std::byte* HaloGrid::allocate(std::uint64_t bytes) {
  if (on_device_) {
    bytes_ += bytes;
    return on_device_->zeroed(bytes);
  }
  memory_.push_back(zeroed(bytes));
  bytes_ += memory_.back().bytes();
  return aligned(memory_.back());
}

void HaloGrid::allocate() {
  if (shape().device) device_ = device_of_number(*shape().device);
  if (shape().storage == GridStorage::mapped) return map_storage();
  if (device_) on_device_ = std::make_unique<DeviceMemory>(device_);
  for (int c = 0; c < shape().copies; ++c)
    for (int s = 0; s < subdomains(); ++s) {
      const std::uint64_t field = field_bytes(s);
      storage_.push_back(allocate(
          shape().bricked()
              ? bricks(s).bytes()
              : checked_multiply<std::uint64_t>(field, static_cast<std::uint64_t>(shape().fields),
                                                "bytes of a subdomain")));
      for (int f = 0; f < shape().fields && !shape().bricked(); ++f)
        arrays_.push_back(storage_.back() + field * static_cast<std::uint64_t>(f));
    }
}

void HaloGrid::map_on_device(Bytes bytes) {
  shown_ = std::make_unique<ShownSurface>(device_, *layout_, bytes);
  mappings_ = static_cast<std::int64_t>(shown_->mappings());
  bytes_ = shown_->bytes();
  for (int c = 0; c < shape().copies; ++c)
    for (int s = 0; s < subdomains(); ++s) storage_.push_back(shown_->storage(*layout_, s, c));
}

void HaloGrid::map_storage() {
  for (int s = 0; s < subdomains(); ++s) {
    const std::int64_t views = tonari::mappings(bricks(s), ViewKind::neighbors);
    const std::int64_t more =
        tonari::mappings(bricks(s), shape().mapped_ghosts ? ViewKind::ghosts : ViewKind::shift);
    mappings_ = checked_add(
        mappings_, checked_multiply<std::int64_t>(views + more, shape().copies, "mappings"),
        "mappings");
    bytes_ = checked_add(
        bytes_,
        checked_multiply<std::uint64_t>(
            bricks(s).bytes(), static_cast<std::uint64_t>(shape().copies), "size of the grid"),
        "size of the grid");
  }
  if (device_) return map_on_device(bytes_);
  check_mappings(mappings_);
  // Behind the cells a page for the words by which ranks tell each other that a copy is complete.
  const std::uint64_t all = bytes_ + (shape().mapped_ghosts ? shape().page : 0);
  if (shape().huge) check_page(shape().page, true, all);
  file_ = MappedFile::create(all, shape().page, shape().huge);
  for (int c = 0; c < shape().copies; ++c)
    for (int s = 0; s < subdomains(); ++s)
      views_.emplace_back(*file_, std::vector<FilePiece>{{file_offset(s, c), bricks(s).bytes()}});
}

std::byte* HaloGrid::storage(int subdomain, int copy) const {
  return file_ ? views_[number(subdomain, copy)].data() : storage_[number(subdomain, copy)];
}

std::byte* HaloGrid::base(int subdomain, int copy, int field) const {
  if (shape().bricked())
    return storage(subdomain, copy) + bricks(subdomain).field_stride() * field *
                                          static_cast<std::int64_t>(shape().element_bytes);
  return arrays_[number(subdomain, copy) * static_cast<std::size_t>(shape().fields) +
                 static_cast<std::size_t>(field)];
}

tonari_array HaloGrid::array(int subdomain) const {
  const GridBox& b = box(subdomain);
  tonari_array array{b.dims, {}, {}, {}, {}, {}};
  const Cells stride = strides(b, shape().order);
  for (int k = 0; k < b.dims; ++k) {
    array.lower[k] = b.lower[k], array.own[k] = b.own[k], array.upper[k] = b.upper[k];
    array.stride[k] = stride[k];
  }
  return array;
}

std::byte* HaloGrid::cell(int subdomain, int copy, int field, const Cells& index) const {
  std::int64_t at = 0;
  if (shape().bricked()) {
    const BrickLayout& layout = bricks(subdomain);
    std::int64_t brick = 0, inside = 0;
    for (int k = 0; k < shape().dims(); ++k) {
      const std::int64_t from_ghosts = index[k] + box(subdomain).lower[k];  // not negative
      brick = brick * (layout.lower()[k] + layout.own()[k] + layout.upper()[k]) +
              from_ghosts / shape().brick[k];
      inside = inside * shape().brick[k] + from_ghosts % shape().brick[k];
    }
    at =
        layout.place()[static_cast<std::size_t>(layout.number()[static_cast<std::size_t>(brick)])] +
        inside;
  } else {
    const tonari_array a = array(subdomain);
    for (int k = 0; k < shape().dims(); ++k) at += (index[k] + a.lower[k]) * a.stride[k];
  }
  return base(subdomain, copy, field) + at * static_cast<std::int64_t>(shape().element_bytes);
}

Layout HaloGrid::cells(int subdomain, int copy, int field, const CellBox& box) const {
  if (!shape().bricked())
    return bytes_of_cells(this->box(subdomain), shape().order, box, shape().element_bytes,
                          reinterpret_cast<std::ptrdiff_t>(base(subdomain, copy, field)));
  Layout layout;
  for_each_piece(subdomain, copy, field, box, [&](std::byte* at, std::size_t bytes) {
    layout.add(reinterpret_cast<std::ptrdiff_t>(at), bytes);
  });
  return layout;
}

}  // namespace tonari
