// SPDX-License-Identifier: BSD-3-Clause
#include "channels/owned_comm.hpp"

#include <mutex>
#include <set>

#include "channels/mpi_error.hpp"
#include "channels/mpi_usable.hpp"
#include "channels/world.hpp"
#include "memory/in_mpi.hpp"

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

// Those made where no world runs. Never destroyed: communicators may be freed after static objects.
struct Duplicates {
  std::mutex mutex;
  std::set<const OwnedComm*> all;
};
Duplicates& of_sessions() {
  static Duplicates* const made = new Duplicates;
  return *made;
}

}  // namespace

OwnedComm::~OwnedComm() {
  if (comm_ == MPI_COMM_NULL || !mpi_usable()) return;
  if (sessions_proved()) {
    const std::lock_guard lock(of_sessions().mutex);
    of_sessions().all.erase(this);
  }
  const InMpi in("MPI_Comm_free");
  MPI_Comm_free(&comm_);
}

void duplicate(MPI_Comm comm, OwnedComm& copy) {
  const ReturningErrors returning(comm);
  call_mpi("MPI_Comm_dup", [&] { return MPI_Comm_dup(comm, copy.place()); });
  check_mpi(MPI_Comm_set_errhandler(copy.get(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  if (world_runs()) return;
  const std::lock_guard lock(of_sessions().mutex);
  of_sessions().all.insert(&copy);
}

void with_any_comm(const std::function<void(MPI_Comm)>& work) {
  if (world_runs()) return work(MPI_COMM_SELF);
  const std::lock_guard lock(of_sessions().mutex);
  const auto& all = of_sessions().all;
  work(all.empty() ? MPI_COMM_NULL : (*all.begin())->get());
}

}  // namespace tonari
