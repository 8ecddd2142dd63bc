// SPDX-License-Identifier: BSD-3-Clause
// Reads MPI datatypes as bytes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <utility>

#include "copy/moves.hpp"

namespace tonari {

// Where an element begins, and how far the next one lies from it. Throws Errc::mpi.
struct TypeExtent {
  std::ptrdiff_t low, length;
};
TypeExtent extent_of(MPI_Datatype type);

// The bytes of `count` elements of the type, relative to the buffer's address, in the order in
// which MPI sends them (type map order; MPI 4.1, section 5.1). The type need not be committed;
// `count` is not negative. Throws Errc::mpi, and Errc::overflow for 2^62 bytes or more. Overflow
// includes an offset, a distance between two bytes, or an extent that does not fit into 64 bits
// with a sign.
Layout flatten(MPI_Count count, MPI_Datatype type);

// The lowest byte and one past the highest of `count` (at least 1) elements, each `extent` bytes
// after the last. Throws Errc::overflow like flatten.
std::pair<std::ptrdiff_t, std::ptrdiff_t> span_of(const Layout& element, MPI_Count count,
                                                  std::ptrdiff_t extent);

// The bytes of one element, found by asking MPI to pack it instead of decoding the type. It takes
// as much memory as the element spans, and a few passes over it. It serves types that flatten
// cannot decode, and tests.
Layout flatten_by_packing(MPI_Datatype type);

}  // namespace tonari
