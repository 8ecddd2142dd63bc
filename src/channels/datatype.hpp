// MPI datatypes as bytes.
#pragma once

#include <mpi.h>

#include "copy/moves.hpp"

namespace tonari {

// The bytes of count elements of the type, relative to the address of the buffer, in the order in which MPI sends them (type map order; MPI 4.1,
// section 5.1). The type need not be committed; count is not negative. Throws Errc::overflow if the bytes or their offsets do not fit, Errc::mpi.
Layout flatten(MPI_Count count, MPI_Datatype type);

// The bytes of one element, found by asking MPI to pack it instead of by decoding the type: needs as much memory as the element spans, and a few
// passes over it. For types that flatten cannot decode, and to test it.
Layout flatten_by_packing(MPI_Datatype type);

}  // namespace tonari
