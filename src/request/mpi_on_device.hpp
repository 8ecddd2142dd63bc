// SPDX-License-Identifier: BSD-3-Clause
// Whether the MPI sends and receives memory of a device. It is asked by the function that MPIs have
// for this, and what it says is tried: a build that has support may lack a part of it at run time.
#pragma once

#include <mpi.h>

#include "device/present_device.hpp"

namespace tonari {

// Local: this rank sends itself messages over `comm`, with this tag, unless the MPI denies it.
// Throws Errc::argument with the reason where the MPI takes no such memory, or delivers other
// bytes; and Errc::memory.
void try_mpi_on_device(PresentDevice& devices, int number, MPI_Comm comm, int tag);

}  // namespace tonari
