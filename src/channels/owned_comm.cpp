// SPDX-License-Identifier: BSD-3-Clause
#include "channels/owned_comm.hpp"

#include "channels/mpi_error.hpp"

namespace tonari {
namespace {

// While it lives, calls on the communicator return their errors.
class ReturningErrors {
 public:
  explicit ReturningErrors(MPI_Comm comm) : comm_(comm) {
    check_mpi(MPI_Comm_get_errhandler(comm, &before_), "MPI_Comm_get_errhandler");
    check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  ~ReturningErrors() {
    MPI_Comm_set_errhandler(comm_, before_);
    MPI_Errhandler_free(&before_);
  }
  ReturningErrors(const ReturningErrors&) = delete;
  ReturningErrors& operator=(const ReturningErrors&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

}  // namespace

void duplicate(MPI_Comm comm, OwnedComm& copy) {
  const ReturningErrors returning(comm);
  call_mpi("MPI_Comm_dup", [&] { return MPI_Comm_dup(comm, copy.place()); });
  check_mpi(MPI_Comm_set_errhandler(copy.get(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

}  // namespace tonari
