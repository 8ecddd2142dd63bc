// SPDX-License-Identifier: BSD-3-Clause
// A communicator of all ranks for windows of a test.
#pragma once

#include <memory>

#include "mpi/owned_comm.hpp"

namespace tonari::test {

inline std::shared_ptr<const OwnedComm> duplicate_of_all() {
  const auto copy = std::make_shared<OwnedComm>();
  duplicate(MPI_COMM_WORLD, *copy);
  return copy;
}

}  // namespace tonari::test
