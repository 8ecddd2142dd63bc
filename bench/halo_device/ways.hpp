// SPDX-License-Identifier: BSD-3-Clause
// Ways to fill the ghosts of a cube on a device whose only neighbor is itself, and floors.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "halo_device/cube.hpp"

namespace bench::halo {

// What a way puts into a stream.
class DeviceWay {
 public:
  virtual ~DeviceWay() = default;
  // The host may have to wait; what follows in the stream sees the ghosts.
  virtual void put(tonari::DeviceStream stream) = 0;
};

struct DeviceKind {
  std::string storage, exchange;
  int launches = 0;  // and copies by the driver
  int pieces = 0;    // that are contiguous at both ends, or messages
  long long bytes = 0;
  bool fills = true;  // the ghosts; a floor does not
  bool ours = false;  // tonari answers for what it delivers
  std::string description;
};

struct NamedWay {
  DeviceKind kind;
  std::unique_ptr<DeviceWay> way;
};

// The floors: the bytes of all messages copied by the driver, and a launch that does nothing.
std::vector<NamedWay> make_floors(Place& place, const CubeShape& shape);
// The ways of one storage. `comm`: of this process alone.
std::vector<NamedWay> make_ways(Place& place, DeviceCube& cube, MPI_Comm comm);

}  // namespace bench::halo
