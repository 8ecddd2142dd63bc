// MPI datatypes as bytes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <utility>

#include "copy/moves.hpp"

namespace tonari {

// The bytes of count elements of the type, relative to the address of the buffer, in the order in
// which MPI sends them (type map order; MPI 4.1, section 5.1). The type need not be committed;
// count is not negative. Throws Errc::mpi, and Errc::overflow if there are 2^62 bytes or more, or
// if an offset, a distance between two bytes, or what MPI itself has to count in order to make the
// type (its extents) does not fit into 64 bits with a sign.
Layout flatten(MPI_Count count, MPI_Datatype type);

// Lowest byte and one past the highest of `count` (at least 1) elements, each extent bytes after
// the last. Throws Errc::overflow as flatten.
std::pair<std::ptrdiff_t, std::ptrdiff_t> span_of(const Layout& element, MPI_Count count,
                                                  std::ptrdiff_t extent);

// The bytes of one element, found by asking MPI to pack it instead of by decoding the type: needs
// as much memory as the element spans, and a few passes over it. For types that flatten cannot
// decode, and to test it.
Layout flatten_by_packing(MPI_Datatype type);

}  // namespace tonari
