// SPDX-License-Identifier: BSD-3-Clause
// Blocks in memory of a device, and memory that has them one behind the other: pinned memory, which
// lets the host exchange them, or memory of the device. One launch copies all blocks, in either
// direction.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "packing/launched_copies.hpp"

namespace tonari {

struct DeviceBlock {
  std::byte* address = nullptr;    // of the first byte, or the base of the layout
  const Layout* layout = nullptr;  // null: contiguous
  Bytes bytes = 0;
  Bytes room = 0;         // in pinned memory, if it takes more than its bytes
  std::size_t space = 0;  // that may move (LaunchedCopies::move_to)
};

// The pinned memory, and where in it each block lies.
class PinnedBlocks {
 protected:
  PinnedBlocks(Device& device, int number, const std::vector<DeviceBlock>& blocks, MemoryKind kind);

  std::vector<Bytes> places_;
  Bytes bytes_ = 0;
  HeldOnDevice memory_;
  std::byte* host_ = nullptr;
};

class PinnedCopy : private PinnedBlocks, public LaunchedCopies {
 public:
  enum class Way : bool { to_host, to_device };

  // The blocks are in reach of device `number`, and have at least one byte together. `kind`: of the
  // memory that has them packed, pinned or device. Throws as the device does: Errc::memory, and
  // Errc::argument for memory that is out of reach.
  PinnedCopy(std::shared_ptr<PresentDevice> devices, int number,
             const std::vector<DeviceBlock>& blocks, Way way, MemoryKind kind = MemoryKind::pinned);

  // Of block k, packed.
  std::byte* host(std::size_t k) const { return host_ + places_[k]; }
  std::byte* host() const { return host_; }  // the first byte
  Bytes bytes() const { return bytes_; }     // of the pinned memory

  // Throws Errc::argument unless the first and the last byte of each space lie there on the same
  // device. `name`: of the argument, for the sentence.
  void check_reach(std::span<const std::ptrdiff_t> shifts, const std::string& name) const;

 private:
  std::vector<PlacedCopy> copies_of(const std::vector<DeviceBlock>& blocks, Way way) const;

  Way way_;
};

}  // namespace tonari
