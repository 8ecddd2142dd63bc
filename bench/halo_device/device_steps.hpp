// SPDX-License-Identifier: BSD-3-Clause
// Steps of a stencil on a device: from one cube to another one of the same storage.
#pragma once

#include <string>

#include "halo_device/cube.hpp"

namespace bench::halo {

class DeviceSteps {
 public:
  // Both cubes are arrays or bricks. `in` is filled.
  DeviceSteps(Place& place, int points, DeviceCube& in, DeviceCube& out);

  void put(tonari::DeviceStream stream) { place_.run(stream, stencil_, call_); }
  // Whether own cells of `out`, of which many are looked at, are what the host computes.
  bool verify();
  std::string name() const;
  int points() const { return stencil_.points; }
  const DeviceCube& in() const { return in_; }

 private:
  void upload_table();
  double expected(long long z, long long y, long long x) const;

  Place& place_;
  Stencil stencil_;
  DeviceCube &in_, &out_;
  tonari::HeldOnDevice held_;
  tonari::DeviceStream stream_;
  StencilCall call_{};
};

}  // namespace bench::halo
