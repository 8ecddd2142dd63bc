// SPDX-License-Identifier: BSD-3-Clause
// Consecutive indices for values that have ids of any kind.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "request/agree_on_arguments.hpp"
#include "vector/lists.hpp"

namespace tonari {

// What values are called once they have consecutive indices: own ones have the range `own`, in the
// order of their list, and needed ones have `needed`.
struct Renumbering {
  OwnedRange own{0, 0};
  std::vector<std::int64_t> needed;
};
// Collective: what tonari_vector_renumber says.
Renumbering renumber(MPI_Comm comm, const VectorLists& lists, Output output);

}  // namespace tonari
