// SPDX-License-Identifier: BSD-3-Clause
// Copies that one launch performs, as often as they are put into a stream. What they copy from and
// to lies in spaces, each of which may move as a whole.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "copy/moves.hpp"
#include "device/held_on_device.hpp"
#include "device/present_device.hpp"

namespace tonari {

// Bytes by their addresses, and the number of their space. Space 0 stays where it is.
struct PlacedBytes {
  Layout bytes;
  std::size_t space = 0;
};
// Both have equally many bytes.
struct PlacedCopy {
  PlacedBytes to, from;
};

class LaunchedCopies {
 public:
  // All bytes are in reach of device `number`. Without copies it orders streams all the same.
  // Throws as the device does: Errc::memory, and Errc::argument for memory that is out of reach.
  LaunchedCopies(std::shared_ptr<PresentDevice> devices, int number,
                 std::vector<PlacedCopy> copies);
  // Waits for what it has put into streams.
  ~LaunchedCopies();
  LaunchedCopies(const LaunchedCopies&) = delete;
  LaunchedCopies& operator=(const LaunchedCopies&) = delete;

  int number() const { return number_; }  // of the device
  Device& device() const { return **devices_; }
  DeviceStream own_stream() const { return own_; }

  // From now on each space lies so far from where it was at first, for all that is put later. The
  // last few such places are kept. Not while copies are under way. Throws as at first, and then
  // stays as it was.
  void move_to(std::span<const std::ptrdiff_t> shifts);

  // Puts the copies into the stream; one at a time. They are done when it is complete.
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

 protected:
  const std::vector<PlacedCopy>& copies() const { return copies_; }

 private:
  using Shift = std::pair<std::ptrdiff_t, std::ptrdiff_t>;  // of a copy's two ends
  // The copies for one place.
  struct Bound {
    std::vector<Shift> shifts;              // of each copy
    std::optional<Move> one;                // all of it is one contiguous copy; otherwise:
    std::optional<DeviceTable> table = {};  // none: there are no copies
  };
  static constexpr std::size_t most_places = 8;
  Bound compile(std::vector<Shift> shifts) const;
  void free(const Bound& bound) const;
  void record_on(DeviceStream stream);

  std::shared_ptr<PresentDevice> devices_;
  int number_;
  std::vector<PlacedCopy> copies_;
  HeldOnDevice held_;
  DeviceStream own_;
  DeviceEvent done_;
  std::vector<Bound> bound_;  // the one that is used comes first
  bool put_ = false;          // and perhaps not complete
  DeviceStream put_to_;
};

}  // namespace tonari
