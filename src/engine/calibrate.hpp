// Measures the cost model's parameters on the ranks of a communicator.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <string>

#include "channels/node.hpp"
#include "cost/loggp.hpp"

namespace tonari {

// Names what measurements depend on: MPI and version, host of rank 0, number of ranks, whether they
// share one node, and the variables that tune the MPI. Collective; the same on all ranks.
std::string machine_key(MPI_Comm comm);

// Ping-pongs and bursts between rank 0 and the last rank while the others wait, and through shared
// memory between rank 0 and the next rank of its node, in about half a second. node: of the calling
// rank. Collective; the same on all ranks. With one rank only copies are measured.
LogGP measure_machine(MPI_Comm comm, const std::shared_ptr<const Node>& node);

// From memory, from the cache directory, or measured and remembered. Collective.
LogGP machine_parameters(MPI_Comm comm, const std::string& key,
                         const std::shared_ptr<const Node>& node);

// ---- between the files of this measurement

// The lower decile: whatever else the machine does only ever adds to a time. Reorders the values.
double undisturbed(std::span<double> values);

// Collective; the first two ranks of rank 0's node measure: sets shared_latency and
// shared_overhead, or leaves them where memory cannot be shared.
void measure_shared(LogGP& machine, MPI_Comm comm, const std::shared_ptr<const Node>& node,
                    int rank);

}  // namespace tonari
