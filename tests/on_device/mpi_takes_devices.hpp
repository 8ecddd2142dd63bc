// SPDX-License-Identifier: BSD-3-Clause
// An MPI that takes memory of a simulated device, played in front of the real one: messages from
// and to such memory go through memory of the host, which the device copies in a stream of the
// MPI's.
#pragma once

#include "device/simulated_device.hpp"

namespace tonari::test {

class MpiTakesDevices {
 public:
  // says: whether it takes them; loses: it then delivers other bytes
  explicit MpiTakesDevices(SimulatedDevice& device, bool says = true, bool loses = false);
  ~MpiTakesDevices();
  MpiTakesDevices(const MpiTakesDevices&) = delete;
  MpiTakesDevices& operator=(const MpiTakesDevices&) = delete;

  int messages() const;  // that it has sent from memory of the device
  bool derived() const;  // whether it got types of the program's for such memory
};

}  // namespace tonari::test
