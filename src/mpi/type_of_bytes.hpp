// SPDX-License-Identifier: BSD-3-Clause
// Describes bytes at absolute addresses as an MPI datatype, for MPI_BOTTOM and count 1.
#pragma once

#include <vector>

#include "copy/moves.hpp"
#include "mpi/owned_type.hpp"

namespace tonari {

// Types at absolute addresses, one behind the other; committed.
OwnedType join_types(const std::vector<OwnedType>& parts, const std::vector<MPI_Aint>& places);

// Throws Errc::overflow.
OwnedType type_of_bytes(const Layout& bytes);

}  // namespace tonari
