// A communicator that we made and have to free.
#pragma once

#include <mpi.h>

namespace tonari {

class OwnedComm {
 public:
  explicit OwnedComm(MPI_Comm made) : comm_(made) {}
  ~OwnedComm() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized && comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  OwnedComm(const OwnedComm&) = delete;
  OwnedComm& operator=(const OwnedComm&) = delete;
  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_;
};

}  // namespace tonari
