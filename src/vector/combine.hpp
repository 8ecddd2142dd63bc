// Sums, minima and maxima of values in memory.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace tonari {

// to[k] = to[k] op from[j] for all j < count and all components, k = offsets[j], or j if offsets is
// null. Addresses are aligned for the type.
using Combine = void (*)(std::byte* to, const std::byte* from, const std::int32_t* offsets,
                         std::size_t count, std::size_t components);

struct Reduction {
  Combine combine;
  int number;  // for ranks to compare; of types and operations that compute the same it is the same
};

// Throws Errc::argument.
Reduction reduction_of(MPI_Datatype type, MPI_Op op);

}  // namespace tonari
