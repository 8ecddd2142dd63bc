// SPDX-License-Identifier: BSD-3-Clause
// Blocks in memory of a device, and pinned memory of the host that has them one behind the other:
// what lets the host exchange them. One launch copies all blocks, in either direction.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "copy/moves.hpp"
#include "device/held_on_device.hpp"
#include "device/present_device.hpp"

namespace tonari {

struct DeviceBlock {
  std::byte* address = nullptr;    // of the first byte, or the base of the layout
  const Layout* layout = nullptr;  // null: contiguous
  Bytes bytes = 0;
  Bytes room = 0;  // in pinned memory, if it takes more than its bytes
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
  Bytes bytes() const { return bytes_; }     // of the pinned memory
  int number() const { return number_; }     // of the device
  Device& device() const { return **devices_; }
  DeviceStream own_stream() const { return own_; }

  // From now on the blocks lie so far from where they were at first, for all that is put later. The
  // last few such places are kept. Not while copies are under way. Throws as at first, and then
  // stays as it was.
  void move_to(std::ptrdiff_t shift);
  // Throws Errc::argument unless the first and the last byte lie there on the same device. `name`:
  // of the argument, for the sentence.
  void check_reach(std::ptrdiff_t shift, const std::string& name) const;

  // Puts the copies into the stream; one at a time. The host may use its side when it is complete.
  void put_on(DeviceStream stream);
  bool complete();  // what was put last, if anything was
  void wait();
  // What the stream gets from now on comes behind what was put last.
  void order_behind(DeviceStream stream);
  // Then `complete` asks for all that the stream holds, too, without a copy.
  void mark_on(DeviceStream stream);
  // Throws Errc::argument unless the stream is one of this device, and Errc::active where it is
  // captured.
  void check_stream(DeviceStream stream) const;

 private:
  // The copies for one place.
  struct Bound {
    std::ptrdiff_t shift = 0;
    std::optional<Move> one;  // all of it is one contiguous copy; otherwise:
    DeviceTable table = {};
  };
  static constexpr std::size_t most_places = 8;
  Bound compile(std::ptrdiff_t shift) const;
  void free(const Bound& bound) const;
  void record_on(DeviceStream stream);

  std::shared_ptr<PresentDevice> devices_;
  int number_;
  Way way_;
  std::vector<Bytes> places_;  // of the blocks
  Bytes bytes_ = 0;
  // All blocks: by their addresses, and in pinned memory.
  Layout on_device_, on_host_;
  HeldOnDevice held_;
  std::byte* host_ = nullptr;
  DeviceStream own_;
  DeviceEvent done_;
  std::vector<Bound> bound_;  // the one that is used comes first
  bool put_ = false;          // and perhaps not complete
  DeviceStream put_to_;
};

}  // namespace tonari
