// Measures the cost model's parameters on the ranks of a communicator.
#pragma once

#include <mpi.h>

#include <string>

#include "cost/loggp.hpp"

namespace tonari {

// Names what measurements depend on: MPI and version, host of rank 0, number of ranks, whether they share one node, and the variables that tune the MPI.
// Collective; the same on all ranks.
std::string machine_key(MPI_Comm comm);

// Ping-pongs and bursts between rank 0 and the last rank while the others wait, in about half a second. Collective; the same on all ranks.
// With one rank only copies are measured.
LogGP measure_machine(MPI_Comm comm);

// From memory, from the cache directory, or measured and remembered. Collective.
LogGP machine_parameters(MPI_Comm comm, const std::string& key);

}  // namespace tonari
