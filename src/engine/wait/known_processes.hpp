// SPDX-License-Identifier: BSD-3-Clause
// The processes of the ranks of this node: those that a communicator has connected, and before the
// first one is, those that the launcher tells of.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "channels/node.hpp"

namespace tonari {

struct KnownProcess {
  std::int32_t rank = 0;  // in the communicator that was asked for, else in MPI_COMM_WORLD
  std::int64_t process = 0;
  bool ended = false;
  bool connected = false;  // by a communicator; else the launcher tells of it
};

// From now on the processes of these ranks of the communicator are known. Local.
void know_processes(MPI_Comm comm, const std::shared_ptr<const Node>& node);
// Asks the system for ranks that are not known yet: if the communicator has any, or, without a call
// of the MPI, if no rank is known. Local.
void find_launched_processes(MPI_Comm comm);
void find_launched_processes();

// Other ranks of the communicator, in their order.
std::vector<KnownProcess> known_processes(MPI_Comm comm);
// All others, without a call of the MPI.
std::vector<KnownProcess> known_processes();
// This rank in MPI_COMM_WORLD, without a call of the MPI; -1: it is not known.
std::int32_t known_rank();

// Throws Errc::peer if one of the communicator's ranks is known and has ended.
void check_all_alive(MPI_Comm comm);

}  // namespace tonari
