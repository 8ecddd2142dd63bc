// SPDX-License-Identifier: BSD-3-Clause
// Ranks that try a way together, and go another one if some cannot.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "base/error.hpp"

namespace tonari {

// Collective: the reason of the lowest rank that has one; nothing if none has. A rank may also fail
// for other causes before it comes here, and all hear of that instead; so reasons are no errors at
// first. `number` becomes the largest of all ranks.
std::optional<Error> first_reason(MPI_Comm comm, const std::optional<Error>& mine,
                                  std::uint64_t& number);
inline std::optional<Error> first_reason(MPI_Comm comm, const std::optional<Error>& mine) {
  std::uint64_t none = 0;
  return first_reason(comm, mine, none);
}

}  // namespace tonari
