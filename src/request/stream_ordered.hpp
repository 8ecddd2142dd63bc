// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of blocks on devices, which starts and waits may put into streams of the program.
#pragma once

#include "channels/arguments.hpp"
#include "device/device.hpp"

namespace tonari {

class StreamOrdered {
 public:
  virtual ~StreamOrdered() = default;

  // Before a start: that start takes both sides behind what the stream holds, without waiting.
  // Throws Errc::argument for a stream of another device, and Errc::active for a captured one.
  virtual void pack_on(DeviceStream stream) = 0;
  // Before a wait: the exchange that was started is complete as soon as its unpacking is in the
  // stream. Another thread may test meanwhile. Throws like pack_on.
  virtual void unpack_on(DeviceStream stream) = 0;
  // After that wait: what the stream gets sees the blocks.
  virtual void finish_on(DeviceStream stream) = 0;

  // Before a start, and not while one is under way: as Exchange::rebind, where all blocks of all
  // ranks lie on devices. What goes by the host stays as it is.
  virtual void move_blocks(Shifts shifts) = 0;
  // Throws Errc::argument where blocks that lie on devices would not, so far from where they were
  // at init.
  virtual void check_reach(Shifts shifts) const = 0;
};

}  // namespace tonari
