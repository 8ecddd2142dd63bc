// SPDX-License-Identifier: BSD-3-Clause
// Prepares in-place all-to-all exchanges for calls.
#pragma once

#include <mpi.h>

#include <memory>

#include "neighborhood/call.hpp"
#include "neighborhood/request.hpp"
#include "request/agree_on_arguments.hpp"
#include "request/prepared.hpp"

namespace tonari {

// Collective over comm, which is not null. output: for the request. Symmetric: block j is swapped
// with rank j. For use once nothing is measured or recalled.
std::shared_ptr<Prepared> prepare_symmetric(const BufferArguments& blocks, MPI_Comm comm, Use use,
                                            MPI_Info info, Output output);
// General: both in v form, of the same buffer and type.
std::shared_ptr<Prepared> prepare_general(const BufferArguments& send, const BufferArguments& recv,
                                          MPI_Comm comm, MPI_Info info, Output output);

}  // namespace tonari
