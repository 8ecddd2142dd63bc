// SPDX-License-Identifier: BSD-3-Clause
// Sums, minima and maxima of values in memory.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "copy/moves.hpp"

namespace tonari {

// to[k] = to[k] op from[j] for all j < count and all components, k = offsets[j], or j if offsets is
// null. Addresses are aligned for the type.
using Combine = void (*)(std::byte* to, const std::byte* from, const std::int32_t* offsets,
                         std::size_t count, std::size_t components);

// The same for the pieces of a move, whose lengths are multiples of a value.
using CombineMove = void (*)(const Move& move);

struct Reduction {
  Combine combine;
  CombineMove combine_move;
  std::size_t bytes;  // of a value
  int number;  // for ranks to compare; of types and operations that compute the same it is the same
};

// The predefined type whose values this one has side by side without gaps: itself, or what it
// repeats. MPI_DATATYPE_NULL if there is none.
MPI_Datatype number_type(MPI_Datatype type);

// Throws Errc::argument.
Reduction reduction_of(MPI_Datatype type, MPI_Op op);

}  // namespace tonari
