// SPDX-License-Identifier: BSD-3-Clause
// Whether what is measured here can be believed.
#pragma once

#include <mpi.h>

namespace tonari::watch {

struct Node {
  int ranks = 0;  // of the job on this host
  int cores = 0;  // on which these ranks may run, together; 0: not known
};

// Collective over comm.
Node node_of(MPI_Comm comm);

// How many processes and threads of this host want to run, but have no processor; 0 also where
// nobody knows.
int waiting_for_processors();

}  // namespace tonari::watch
