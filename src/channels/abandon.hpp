// SPDX-License-Identifier: BSD-3-Clause
// The remains of a failed exchange: messages that were started and are not waited for.
#pragma once

#include <mpi.h>

#include <span>
#include <utility>

#include "memory/in_mpi.hpp"

namespace tonari {

// Whether a canceled receive is over by then. One whose message has begun to arrive cannot be taken
// back. It ends soon, unless its sender has died.
inline bool is_over(MPI_Request& request, double deadline, MPI_Status* status = MPI_STATUS_IGNORE) {
  int done = 0;
  const InMpi in("MPI_Test");
  do MPI_Test(&request, &done, status);
  while (!done && MPI_Wtime() < deadline);
  return done != 0;
}

// Receives are canceled, because their memory must not be written any more; all requests are freed.
// Sends cannot be taken back, nor what comes from a rank that died in the middle: it returns
// whether some are left, whose memory must never be given back. is_send(k) tells about requests[k].
template <class IsSend>
bool abandon(std::span<MPI_Request> requests, IsSend is_send) {
  constexpr double longest = 1;  // seconds, for all of them
  bool some_left = false;
  double deadline = 0;
  for (std::size_t k = 0; k < requests.size(); ++k) {
    if (requests[k] == MPI_REQUEST_NULL) continue;
    int done = 1;
    MPI_Request_get_status(requests[k], &done, MPI_STATUS_IGNORE);
    if (!done && deadline == 0) deadline = MPI_Wtime() + longest;
    if (!done && !is_send(k) && MPI_Cancel(&requests[k]) == MPI_SUCCESS)
      done = is_over(requests[k], deadline);
    some_left |= !done;
    if (requests[k] != MPI_REQUEST_NULL) MPI_Request_free(&requests[k]);
  }
  return some_left;
}

// This memory is never given back: somebody may still read or write it.
template <class... Held>
void leak(Held... held) {
  ((void)new Held(std::move(held)), ...);
}

}  // namespace tonari
