// A communicator that we made and have to free.
#pragma once

#include <mpi.h>

#include "channels/mpi_usable.hpp"

namespace tonari {

class OwnedComm {
 public:
  explicit OwnedComm(MPI_Comm made) : comm_(made) {}
  ~OwnedComm() {
    if (comm_ != MPI_COMM_NULL && mpi_usable()) MPI_Comm_free(&comm_);
  }
  OwnedComm(const OwnedComm&) = delete;
  OwnedComm& operator=(const OwnedComm&) = delete;
  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_;
};

}  // namespace tonari
