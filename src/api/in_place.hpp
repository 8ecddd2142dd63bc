// Prepares in-place all-to-all exchanges for calls.
#pragma once

#include <mpi.h>

#include <memory>

#include "api/call.hpp"
#include "api/prepared.hpp"

namespace tonari {

// Collective over comm, which is not null. has_place: whether the program gave a place for the
// request; here, where all ranks learn of it. Symmetric: block j is swapped with rank j.
std::shared_ptr<Prepared> prepare_symmetric(const Given& blocks, MPI_Comm comm, MPI_Info info,
                                            bool has_place);
// General: both in v form, of the same buffer and type.
std::shared_ptr<Prepared> prepare_general(const Given& send, const Given& recv, MPI_Comm comm,
                                          MPI_Info info, bool has_place);

}  // namespace tonari
