// SPDX-License-Identifier: BSD-3-Clause
// A message of words that has come from any rank, and is to be received.
#pragma once

#include <mpi.h>

#include "mpi/mpi_error.hpp"
#include "planners/graphs/bsp_comm.hpp"

namespace tonari {

struct Arrived {
  int found = 0, count = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status{};

  Arrived(MPI_Comm comm, int tag) {
    call_mpi("MPI_Improbe",
             [&] { return MPI_Improbe(MPI_ANY_SOURCE, tag, comm, &found, &message, &status); });
    if (found) check_mpi(MPI_Get_count(&status, MPI_INT64_T, &count), "MPI_Get_count");
  }
  void receive(Word* to) {
    call_mpi("MPI_Mrecv",
             [&] { return MPI_Mrecv(to, count, MPI_INT64_T, &message, MPI_STATUS_IGNORE); });
  }
};

}  // namespace tonari
