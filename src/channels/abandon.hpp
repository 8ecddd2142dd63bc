// SPDX-License-Identifier: BSD-3-Clause
// The remains of a failed exchange: messages that were started and are not waited for.
#pragma once

#include <mpi.h>

#include <span>
#include <utility>

namespace tonari {

// Receives are canceled, because their memory must not be written any more; all requests are freed.
// Sends cannot be taken back: it returns whether some are left, whose memory must never be given
// back. is_send(k) tells about requests[k].
template <class IsSend>
bool abandon(std::span<MPI_Request> requests, IsSend is_send) {
  bool still_sends = false;
  for (std::size_t k = 0; k < requests.size(); ++k) {
    if (requests[k] == MPI_REQUEST_NULL) continue;
    int done = 1;
    MPI_Request_get_status(requests[k], &done, MPI_STATUS_IGNORE);
    if (!done && is_send(k))
      still_sends = true;
    else if (!done && MPI_Cancel(&requests[k]) == MPI_SUCCESS)
      MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
    if (requests[k] != MPI_REQUEST_NULL) MPI_Request_free(&requests[k]);
  }
  return still_sends;
}

// This memory is never given back: somebody may still read or write it.
template <class... Held>
void leak(Held... held) {
  ((void)new Held(std::move(held)), ...);
}

}  // namespace tonari
