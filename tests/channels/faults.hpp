// SPDX-License-Identifier: BSD-3-Clause
// What an MPI may do, and what other threads may do meanwhile, at a moment that a test chooses:
// wrappers around MPI's functions and around `new`.
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

namespace tonari::test {

struct Faults {
  // MPI_Test says that the receive with this tag is under way, until another one that is persistent
  // is over; -1: none.
  int hidden_tag = -1;
  bool cancel_fails = false, isend_fails = false;
  bool no_world = false;   // MPI_Initialized says so
  bool no_memory = false;  // for `new`
  // Called once, in front of the MPI's function.
  std::function<void()> before_type_attribute_is_set, before_type_attribute_is_read;
};
Faults& faults();

// Calls since the program began.
struct Called {
  long cancels = 0, starts = 0, type_keys_freed = 0;
  int longest_receive = 0;                                  // elements
  std::vector<MPI_Comm_delete_attr_function*> at_finalize;  // what MPI_Finalize will call
};
Called& called();

// No faults are left when a test is over, however it ends.
class NoFaultsAfterwards {
 public:
  NoFaultsAfterwards() = default;
  ~NoFaultsAfterwards() { faults() = {}; }
  NoFaultsAfterwards(const NoFaultsAfterwards&) = delete;
  NoFaultsAfterwards& operator=(const NoFaultsAfterwards&) = delete;
};

}  // namespace tonari::test
