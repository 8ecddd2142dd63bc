// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/owned_comm.hpp"

#include <atomic>
#include <mutex>
#include <new>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/lasting.hpp"
#include "memory/in_mpi.hpp"
#include "mpi/collective.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/mpi_usable.hpp"
#include "mpi/quirks.hpp"
#include "mpi/world.hpp"

namespace tonari {
namespace {

struct Handler {
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  int users = 0;
};

// While one lives, calls on the communicator return their errors. Several threads may need that of
// MPI_COMM_WORLD at a time: the last one puts back what the first one found.
class ReturningErrors {
 public:
  explicit ReturningErrors(MPI_Comm comm)
      : comm_(comm), handler_(comm == MPI_COMM_WORLD ? of_world : own_) {
    const std::lock_guard lock(mutex);
    if (handler_.users == 0) {
      check_mpi(MPI_Comm_get_errhandler(comm, &handler_.before), "MPI_Comm_get_errhandler");
      check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    }
    ++handler_.users;
  }
  ~ReturningErrors() {
    const std::lock_guard lock(mutex);
    if (--handler_.users > 0) return;
    MPI_Comm_set_errhandler(comm_, handler_.before);
    MPI_Errhandler_free(&handler_.before);
  }
  ReturningErrors(const ReturningErrors&) = delete;
  ReturningErrors& operator=(const ReturningErrors&) = delete;

 private:
  static inline std::mutex mutex;
  static inline Handler of_world;

  MPI_Comm comm_;
  Handler own_;
  Handler& handler_;
};

// A duplicate under way. If it is given up, the MPI may still write both.
struct Duplicate {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  Duplicate* next = nullptr;
};

// Never given back.
std::atomic<Duplicate*> given_up{nullptr};

void leave(Duplicate* duplicate) {
  duplicate->next = given_up;
  while (!given_up.compare_exchange_weak(duplicate->next, duplicate)) {
  }
}

// Those made where no world runs. Never destroyed: communicators may be freed after static objects.
struct Duplicates {
  std::mutex mutex;
  std::set<const OwnedComm*> all;
};
Duplicates& of_sessions() { return lasting<Duplicates>(); }

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

void check_duplicates() {
  if (given_up.load())
    fail(Errc::peer,
         "a rank ended while a communicator was duplicated, and then this MPI may make no "
         "communicator any more; end the program");
}

MPI_Comm duplicate_of(MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  if (quirks().idup_spoils) {
    call_mpi("MPI_Comm_dup", [&] { return MPI_Comm_dup(comm, &made); });
    return made;
  }
  std::optional<ReturningErrors> returning;
  if (quirks().idup_fails_at_world && world_runs()) returning.emplace(MPI_COMM_WORLD);
  std::unique_ptr<Duplicate> kept(new (std::nothrow) Duplicate);
  Duplicate own, &under_way = kept ? *kept : own;
  call_mpi("MPI_Comm_idup",
           [&] { return MPI_Comm_idup(comm, &under_way.made, &under_way.request); });
  try {
    complete_call(comm, under_way.request, kept ? IfOneDies::give_up : IfOneDies::wait);
  } catch (...) {
    if (kept && under_way.request != MPI_REQUEST_NULL) leave(kept.release());
    throw;
  }
  return under_way.made;
}

void duplicate(MPI_Comm comm, OwnedComm& copy) {
  const ReturningErrors returning(comm);
  *copy.place() = duplicate_of(comm);
  check_mpi(MPI_Comm_set_errhandler(copy.get(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  if (world_runs()) return;
  const std::lock_guard lock(of_sessions().mutex);
  of_sessions().all.insert(&copy);
}

void with_any_comm(const std::function<void(MPI_Comm)>& work) {
  if (world_runs()) return work(MPI_COMM_SELF);
  const std::lock_guard lock(of_sessions().mutex);
  const auto& all = of_sessions().all;
  if (all.empty())
    fail(Errc::mpi, "this datatype can only be read once there is a neighborhood; make one first");
  work((*all.begin())->get());
}

}  // namespace tonari
