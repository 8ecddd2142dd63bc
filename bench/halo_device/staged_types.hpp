// SPDX-License-Identifier: BSD-3-Clause
// What a program with an MPI that takes no device pointers does with datatypes: the surface goes to
// the host, MPI exchanges it there by subarray types, and the ghosts go back.
#pragma once

#include <mpi.h>

#include <memory>

#include "halo_device/ways.hpp"

namespace bench::halo {

std::unique_ptr<DeviceWay> make_staged_types(Place& place, const DeviceCube& cube, MPI_Comm comm);

}  // namespace bench::halo
