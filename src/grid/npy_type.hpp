// SPDX-License-Identifier: BSD-3-Clause
// What NumPy calls MPI's types of numbers.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>

namespace tonari {

// NumPy's name for a predefined type of numbers of this many bytes, such as "<f8"; empty if it has
// none.
std::string npy_type(MPI_Datatype type, std::size_t bytes);

}  // namespace tonari
