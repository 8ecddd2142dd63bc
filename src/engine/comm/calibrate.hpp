// SPDX-License-Identifier: BSD-3-Clause
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

// Measures by ping-pongs and bursts between rank 0 and the last rank while the others wait. Rank 0
// also uses shared memory with the next rank of its `node`. That takes some 2 ms where ranks have a
// core each. On a busy machine the parameters that there was no time for keep their usual values;
// `complete` tells on rank 0.
// Collective; the same on all ranks. With one rank only copies are measured.
LogGP measure_machine(MPI_Comm comm, const std::shared_ptr<const Node>& node, bool& complete);

// Of this process: a number for the variables by which users and sites tune their MPI, which change
// what is fastest, and so the machine's key.
std::uint64_t tuning_environment();

// Parameters from memory, from the cache directory, or measured and remembered. Collective.
LogGP machine_parameters(MPI_Comm comm, const std::string& key,
                         const std::shared_ptr<const Node>& node);

// ---- shared by the files of this measurement

// The lower decile, because other load only ever adds to a time. Reorders the values.
double undisturbed(std::span<double> values);

// Collective. The first two ranks of rank 0's node measure: sets shared_latency and
// shared_overhead, or leaves them where memory cannot be shared.
void measure_shared(LogGP& machine, MPI_Comm comm, const std::shared_ptr<const Node>& node,
                    int rank);

}  // namespace tonari
