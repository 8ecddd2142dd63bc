// SPDX-License-Identifier: BSD-3-Clause
// What the MPI that the program runs with says of itself.
#pragma once

#include <string>

namespace tonari {

// What MPI_Get_library_version returns; empty if it fails. It may be called at any time, and is
// asked once.
const std::string& library_version();

}  // namespace tonari
