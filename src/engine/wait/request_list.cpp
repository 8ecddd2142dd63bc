// SPDX-License-Identifier: BSD-3-Clause
#include "engine/wait/request_list.hpp"

#include "mpi/mpi_error.hpp"

namespace tonari {

RequestList::~RequestList() {
  for (MPI_Request& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Cancel(&request), MPI_Request_free(&request);
}

// Tests each only until it is complete: this is asked between any two messages that come.
bool RequestList::done() {
  for (; complete_ < requests_.size(); ++complete_)
    if (!is_complete(requests_[complete_])) return false;
  requests_.clear();
  complete_ = 0;
  return true;
}

}  // namespace tonari
