// SPDX-License-Identifier: BSD-3-Clause
// A communicator that the library made and has to free.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>

namespace tonari {

class OwnedComm {
 public:
  OwnedComm() = default;
  explicit OwnedComm(MPI_Comm made) : comm_(made) {}
  ~OwnedComm();
  OwnedComm(const OwnedComm&) = delete;
  OwnedComm& operator=(const OwnedComm&) = delete;
  MPI_Comm get() const { return comm_; }
  MPI_Comm* place() { return &comm_; }  // for the call that makes it; memory is there by then

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// Collective: a duplicate as MPI_Comm_dup makes it. It is started and tested, so that a rank hears
// if another one has died (mpi/collective.hpp): then it throws Errc::peer. Without memory
// nobody gives it up.
MPI_Comm duplicate_of(MPI_Comm comm);
// Ranks agree on this before they duplicate. Throws Errc::peer if this process has given up a
// duplicate, since others might wait forever for the next: Open MPI 4.1.4 then duplicates no newer
// communicator, whatever its ranks.
void check_duplicates();

// Collective: makes `copy` a duplicate that returns its errors. A refusal of the MPI is thrown
// (Errc::mpi) and does not reach the communicator's error handler, which by default ends the job.
// Otherwise it fails as duplicate_of does. Where no world runs, it needs some memory of ours, too.
void duplicate(MPI_Comm comm, OwnedComm& copy);

// Calls `work` with a communicator for local calls that need one, such as MPI_Pack: MPI_COMM_SELF,
// and where sessions run without it, a duplicate that lives. Throws Errc::mpi if there is none.
void with_any_comm(const std::function<void(MPI_Comm)>& work);

}  // namespace tonari
