// SPDX-License-Identifier: BSD-3-Clause
// Builds exchanges of values on which ranks have agreed.
#pragma once

#include <mpi.h>

#include <memory>

#include "vector/read_call.hpp"
#include "vector/shared_vector.hpp"

namespace tonari {

// Collective. start: the time of the call. by_thread: a thread drives it, besides.
std::shared_ptr<Prepared> build_exchange(SharedVector& vector, Direction direction, double start,
                                         const VectorValues& values, MPI_Info info, Use use,
                                         bool by_thread);

}  // namespace tonari
