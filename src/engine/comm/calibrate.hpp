// SPDX-License-Identifier: BSD-3-Clause
// Measures the cost model's parameters on the ranks of a communicator.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/error.hpp"
#include "channels/node.hpp"
#include "cost/loggp.hpp"

namespace tonari {

// The machine of the file that TONARI_MACHINE names, for the rank that reads it; nothing if it
// names none. Throws Errc::file.
std::optional<LogGP> machine_in_environment();

// Names what measurements depend on: MPI and version, host of rank 0, number of ranks, whether they
// share one node or cores, and the variables that tune the MPI. With a machine file, what that one
// says instead of the host. Collective; the same on all ranks. `named`: on rank 0, what the file
// says; `error`: why a rank could not read it, which all throw.
std::string machine_key(MPI_Comm comm, std::size_t ranks_per_core,
                        const std::optional<LogGP>& named = std::nullopt,
                        const std::optional<Error>& error = std::nullopt);

// Measures by ping-pongs and bursts between rank 0 and the last rank of another node while the
// others wait, or the last rank of all. Rank 0 also sends messages to the next rank of its `node`
// if there are several nodes, and uses shared memory with it. All ranks copy at once. On one node,
// and where ranks share cores, all of them exchange messages. That takes some 5 ms where ranks have
// a core each. On a busy machine the
// parameters that there was no time for keep their usual values; `complete` tells on rank 0.
// Collective; the same on all ranks. With one rank only copies are measured.
LogGP measure_machine(MPI_Comm comm, const std::shared_ptr<const Node>& node, bool& complete);

// Of this process: a number for the variables by which users and sites tune their MPI, which change
// what is fastest, and so the machine's key.
std::uint64_t tuning_environment();

// Parameters of a machine file (`named`, on rank 0), from memory, from the cache directory, or
// measured and remembered. Collective.
LogGP machine_parameters(MPI_Comm comm, const std::string& key,
                         const std::shared_ptr<const Node>& node,
                         const std::optional<LogGP>& named = std::nullopt);

// ---- shared by the files of this measurement

// The lower decile, because other load only ever adds to a time. Reorders the values.
double undisturbed(std::span<double> values);

// Seconds for the messages between two ranks.
double time_for_messages();

// Sets copy_block and copy_byte.
void measure_copies(LogGP& machine);

// Collective. All ranks copy at once: sets cache and copy_beyond.
void measure_long_copies(LogGP& machine, MPI_Comm comm);

// Collective. The first two ranks of rank 0's node measure: sets shared_latency, shared_overhead
// and shared_byte, or leaves them where memory cannot be shared.
void measure_shared(LogGP& machine, MPI_Comm comm, const std::shared_ptr<const Node>& node,
                    int rank);

// Collective. All ranks exchange messages with some others. Sets core_switch, for so many ranks
// that take turns on a core, or L where each has its own; on one node also o, G and rendezvous.
void measure_exchanges(LogGP& machine, MPI_Comm comm, std::size_t ranks_per_core, bool one_node);

}  // namespace tonari
