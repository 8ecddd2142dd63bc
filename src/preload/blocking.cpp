// SPDX-License-Identifier: BSD-3-Clause
// The blocking neighborhood collectives: each goes through tonari or to the MPI.
#include "preload/blocking_call.hpp"
#include "preload/operations.hpp"

namespace tonari::preload {

#define TONARI_BLOCKING(name, suffix, kind, shape, Count, Displacement)        \
  TONARI_IN_FRONT_OF(MPI_Neighbor_##name##suffix,                              \
                     (TONARI_TAKES_##shape(Count, Displacement), Handle comm), \
                     call_blocking(called, comm, Neighbor_##name##suffix{{TONARI_GIVES_##shape}}))
TONARI_OPERATIONS(TONARI_BLOCKING);

}  // namespace tonari::preload
