// SPDX-License-Identifier: BSD-3-Clause
// Makes a vector from the program's lists, on the route that was asked for or is the fastest.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "request/agree_on_arguments.hpp"
#include "vector/lists.hpp"
#include "vector/shared_vector.hpp"

namespace tonari {

// Collective: what tonari_vector_create and its sisters say. wrong: what this rank cannot do it
// for; here, where all ranks learn of it.
std::unique_ptr<SharedVector> make_vector(MPI_Comm comm, const VectorLists& lists, MPI_Info info,
                                          Output output, const std::optional<Error>& wrong);

}  // namespace tonari
