// SPDX-License-Identifier: BSD-3-Clause
// Prepares exchanges of a vector for calls.
#pragma once

#include <mpi.h>

#include <memory>

#include "neighborhood/group.hpp"
#include "vector/call.hpp"
#include "vector/shared_vector.hpp"

namespace tonari {

// Collective: makes a persistent exchange. `output` is for the request.
std::shared_ptr<Prepared> prepare_vector(SharedVector& vector, const VectorCall& call,
                                         MPI_Info info, Output output);

// Local: reads the call for a group.
std::unique_ptr<GroupedCall> group_vector(SharedVector& vector, const VectorCall& call);

}  // namespace tonari
