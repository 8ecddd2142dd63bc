// SPDX-License-Identifier: BSD-3-Clause
// What ranks agree on before they make an exchange of values, or take one that they have kept.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "request/kept.hpp"
#include "vector/read_call.hpp"
#include "vector/shared_vector.hpp"

namespace tonari {

// What the program brings, its number, and the exchange that all ranks have kept for it, if any.
struct AgreedValues {
  VectorValues values = {};
  bool by_thread = false;
  std::uint64_t number = 0;
  std::shared_ptr<Prepared> kept = {};
};

// Collective: if it is right and the same everywhere. kept: null where none is of use.
AgreedValues agree_on_values(const SharedVector& vector, const VectorCall& call, MPI_Info info,
                             Output output, KeptCalls* kept);

}  // namespace tonari
