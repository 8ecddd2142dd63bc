// SPDX-License-Identifier: BSD-3-Clause
// Blocks in memory of a device, and pinned memory of the host that has them one behind the other:
// what lets the host exchange them. One launch copies all blocks, in either direction.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "copy/moves.hpp"
#include "device/held_on_device.hpp"
#include "device/present_device.hpp"

namespace tonari {

struct DeviceBlock {
  std::byte* address = nullptr;    // of the first byte, or the base of the layout
  const Layout* layout = nullptr;  // null: contiguous
  Bytes bytes = 0;
};

class PinnedCopy {
 public:
  enum class Way : bool { to_host, to_device };

  // The blocks are in reach of device `number`, and have at least one byte together. Throws as the
  // device does: Errc::memory, and Errc::argument for memory that is out of reach.
  PinnedCopy(std::shared_ptr<PresentDevice> devices, int number,
             const std::vector<DeviceBlock>& blocks, Way way);
  // Waits for what it has put into streams.
  ~PinnedCopy();
  PinnedCopy(const PinnedCopy&) = delete;
  PinnedCopy& operator=(const PinnedCopy&) = delete;

  // Of block k, in pinned memory.
  std::byte* host(std::size_t k) const { return host_ + places_[k]; }
  std::byte* host() const { return host_; }  // the first byte
  Bytes bytes() const { return on_device_.bytes(); }
  int number() const { return number_; }  // of the device
  Device& device() const { return **devices_; }
  DeviceStream own_stream() const { return own_; }

  // Puts the copies into the stream; one at a time. The host may use its side when it is complete.
  void put_on(DeviceStream stream);
  bool complete() const;  // what was put last
  void wait() const;

 private:
  void compile();

  std::shared_ptr<PresentDevice> devices_;
  int number_;
  Way way_;
  std::vector<Bytes> places_;  // of the blocks
  Layout on_device_;           // all blocks, by their addresses
  HeldOnDevice held_;
  std::byte* host_ = nullptr;
  DeviceStream own_;
  DeviceEvent done_;
  std::optional<Move> one_;  // all of it is one contiguous copy; otherwise:
  DeviceTable table_;
  bool put_ = false;
};

}  // namespace tonari
