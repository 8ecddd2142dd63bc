// SPDX-License-Identifier: BSD-3-Clause
#include "halo_device/cube.hpp"

#include <algorithm>
#include <cstring>

#include "layout/array_cells.hpp"

namespace bench::halo {

using namespace tonari;

namespace {

constexpr Bytes chunk = Bytes{64} << 20;
constexpr std::int64_t element = sizeof(double);

Bytes aligned(Bytes bytes, Bytes unit) { return (bytes + unit - 1) / unit * unit; }

Layout layout_of(const std::byte* base, const std::vector<BrickPiece>& pieces) {
  Layout all;
  for (const auto& [offset, bytes] : pieces)
    all.add(reinterpret_cast<std::ptrdiff_t>(base + offset), bytes);
  return all;
}

// Different for all cells, in no order.
double value(std::int64_t number) {
  return static_cast<double>(static_cast<std::uint32_t>(number) * 2654435761u) / 4294967296.0;
}

}  // namespace

const char* name(DeviceStorage storage) {
  constexpr const char* names[] = {"array", "brick", "mapped", "mapped"};
  return names[static_cast<int>(storage)];
}

GridBox CubeShape::box() const {
  return {cube_dims, {size, size, size}, {ghost, ghost, ghost}, {ghost, ghost, ghost}};
}

DeviceCube::DeviceCube(Place& place, const CubeShape& shape, DeviceStorage storage)
    : place_(place), shape_(shape), storage_(storage), held_(place.device()) {
  stream_ = held_.stream(0);
  if (storage != DeviceStorage::array) lay_out();
  allocate();
  pinned_ = held_.allocate(MemoryKind::pinned, 0, std::min(bytes_, chunk));
  make_contents();
}

void DeviceCube::lay_out() {
  BrickShape bricks;
  bricks.brick = {CubeShape::brick, CubeShape::brick, CubeShape::brick};
  if (storage_ != DeviceStorage::brick)
    bricks.unit = static_cast<std::int64_t>(place_.device().granularity(0));
  bricks_.emplace(shape_.box(), bricks, surface_order(cube_dims));
}

// Pieces of ghosts that are pieces of the surface.
void DeviceCube::allocate() {
  const auto edge = static_cast<Bytes>(shape_.size + 2 * shape_.ghost);
  bytes_ = bricks_ ? bricks_->bytes() : edge * edge * edge * element;
  if (storage_ != DeviceStorage::aliased) {
    base_ = held_.allocate(MemoryKind::device, 0, bytes_);
    return;
  }
  std::vector<Alias> aliases;
  for (const Region v : directions(cube_dims)) {
    const auto to = bricks_->receive(v), from = bricks_->send(opposite(v, cube_dims));
    for (std::size_t k = 0; k < to.size(); ++k)
      aliases.push_back({to[k].offset, from[k].offset, to[k].bytes});
  }
  aliased_ = std::make_unique<AliasedMemory>(
      place_.device(), 0, aligned(bytes_, place_.device().granularity(0)), std::move(aliases));
  base_ = aliased_->base();
}

std::int64_t DeviceCube::at(long long z, long long y, long long x) const {
  const long long g = shape_.ghost, edge = shape_.size + 2 * g;
  z += g, y += g, x += g;
  if (!bricks_) return (z * edge + y) * edge + x;
  constexpr long long b = CubeShape::brick;
  const long long per_edge = edge / b;
  const auto where = static_cast<std::size_t>((z / b * per_edge + y / b) * per_edge + x / b);
  const auto number = static_cast<std::size_t>(bricks_->number()[where]);
  return bricks_->place()[number] + (z % b * b + y % b) * b + x % b;
}

void DeviceCube::make_contents() {
  const long long n = shape_.size, g = shape_.ghost;
  filled_.assign(bytes_ / element, 0), poisoned_ = filled_;
  const auto own = [&](long long c) { return c >= 0 && c < n; };
  const auto owner = [&](long long c) { return (c + n) % n; };
  for (long long z = -g; z < n + g; ++z)
    for (long long y = -g; y < n + g; ++y)
      for (long long x = -g; x < n + g; ++x) {
        const auto here = static_cast<std::size_t>(at(z, y, x));
        filled_[here] = value((owner(z) * n + owner(y)) * n + owner(x));
        const bool keeps = storage_ == DeviceStorage::aliased || (own(z) && own(y) && own(x));
        poisoned_[here] = keeps ? filled_[here] : -1;
      }
}

template <class Use>
void DeviceCube::in_chunks(const Use& use) const {
  for (Bytes at = 0; at < bytes_; at += chunk) use(at, std::min(chunk, bytes_ - at));
}

void DeviceCube::write(const std::vector<double>& content) {
  const auto* const from = reinterpret_cast<const std::byte*>(content.data());
  in_chunks([&](Bytes at, Bytes bytes) {
    std::memcpy(pinned_, from + at, bytes);
    place_.device().copy(stream_, base_ + at, pinned_, bytes);
    place_.device().synchronize(stream_);
  });
}

std::vector<double> DeviceCube::read() const {
  std::vector<double> content(bytes_ / element);
  auto* const to = reinterpret_cast<std::byte*>(content.data());
  in_chunks([&](Bytes at, Bytes bytes) {
    place_.device().copy(stream_, pinned_, base_ + at, bytes);
    place_.device().synchronize(stream_);
    std::memcpy(to + at, pinned_, bytes);
  });
  return content;
}

Layout DeviceCube::ghosts(Region direction) const {
  if (bricks_) return layout_of(base_, bricks_->receive(direction));
  return bytes_of_cells(shape_.box(), ArrayOrder::c, ghost_box(shape_.box(), direction), element,
                        reinterpret_cast<std::ptrdiff_t>(base_));
}

Layout DeviceCube::surface(Region direction) const {
  const Region sent = opposite(direction, cube_dims);
  if (bricks_) return layout_of(base_, bricks_->send(sent));
  return bytes_of_cells(shape_.box(), ArrayOrder::c, send_box(shape_.box(), sent), element,
                        reinterpret_cast<std::ptrdiff_t>(base_));
}

std::vector<Move> DeviceCube::moves_by_region() const {
  std::vector<Move> moves;
  for (const Region v : directions(cube_dims)) {
    const auto to = bricks_->receive_basic(v), from = bricks_->send_basic(opposite(v, cube_dims));
    for (std::size_t k = 0; k < to.size(); ++k)
      moves.push_back({base_ + to[k].offset, base_ + from[k].offset, to[k].bytes, 1, 0, 0});
  }
  return moves;
}

double DeviceCube::padding_of_messages() const { return bricks_ ? padding_percent(*bricks_) : 0; }

double DeviceCube::padding_of_memory() const {
  const auto edge = static_cast<double>(shape_.size + 2 * shape_.ghost);
  return 100 * (static_cast<double>(bytes_) / (edge * edge * edge * element) - 1);
}

}  // namespace bench::halo
