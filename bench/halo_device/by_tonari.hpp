// SPDX-License-Identifier: BSD-3-Clause
// What a program gets that leaves the exchange to tonari: a grid of its array on the device.
#pragma once

#include <mpi.h>

#include <memory>

#include "halo_device/ways.hpp"

namespace bench::halo {

// in_stream: by tonari_start_on and tonari_wait_on; else the host starts and waits. `comm`: of this
// process alone. Throws tonari::Error.
std::unique_ptr<DeviceWay> make_by_tonari(const DeviceCube& cube, MPI_Comm comm, bool in_stream);

}  // namespace bench::halo
