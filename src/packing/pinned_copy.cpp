// SPDX-License-Identifier: BSD-3-Clause
#include "packing/pinned_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "device/given.hpp"

namespace tonari {

PinnedBlocks::PinnedBlocks(Device& device, int number, const std::vector<DeviceBlock>& blocks,
                           MemoryKind kind)
    : memory_(device) {
  places_.reserve(blocks.size());
  for (const DeviceBlock& block : blocks) {
    places_.push_back(bytes_);
    bytes_ = checked_add(bytes_, std::max(block.bytes, block.room), "bytes of pinned memory");
  }
  host_ = memory_.allocate(kind, number, bytes_);
}

PinnedCopy::PinnedCopy(std::shared_ptr<PresentDevice> devices, int number,
                       const std::vector<DeviceBlock>& blocks, Way way, MemoryKind kind)
    : PinnedBlocks(**devices, number, blocks, kind),
      LaunchedCopies(devices, number, copies_of(blocks, way)),
      way_(way) {}

// Blocks of one space that follow each other are one copy.
std::vector<PlacedCopy> PinnedCopy::copies_of(const std::vector<DeviceBlock>& blocks,
                                              Way way) const {
  std::vector<PlacedCopy> all;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const DeviceBlock& block = blocks[k];
    if (block.bytes == 0) continue;
    const auto on_device = [way](PlacedCopy& copy) -> PlacedBytes& {
      return way == Way::to_host ? copy.from : copy.to;
    };
    if (all.empty() || on_device(all.back()).space != block.space)
      on_device(all.emplace_back()).space = block.space;
    PlacedCopy& copy = all.back();
    const auto at = reinterpret_cast<std::ptrdiff_t>(block.address);
    if (block.layout)
      on_device(copy).bytes.add(*block.layout, at);
    else
      on_device(copy).bytes.add(at, block.bytes);
    (way == Way::to_host ? copy.to : copy.from)
        .bytes.add(reinterpret_cast<std::ptrdiff_t>(host(k)), block.bytes);
  }
  return all;
}

void PinnedCopy::check_reach(std::span<const std::ptrdiff_t> shifts,
                             const std::string& name) const {
  for (const PlacedCopy& copy : copies()) {
    const PlacedBytes& blocks = way_ == Way::to_host ? copy.from : copy.to;
    const auto [low, high] = blocks.bytes.span();
    const std::ptrdiff_t by = shifts[blocks.space];
    check_buffer(device(), number(), {low + by, high + by}, name);
  }
}

}  // namespace tonari
