// SPDX-License-Identifier: BSD-3-Clause
#include "preload/attribute.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "base/lasting.hpp"

namespace tonari::preload {
namespace {

// Never destroyed: MPI_Finalize may come after the destructors of static objects.
struct Live {
  std::mutex mutex;
  std::unordered_set<Communicator*> all;
  int key = MPI_KEYVAL_INVALID;
};
Live& live() { return lasting<Live>(); }

// Callbacks run in an order of their own on each rank, so from MPI_Finalize on all calls go to the
// MPI. A limit: a rank's callback may meet a call that another rank makes before its MPI_Finalize.
// One of them goes to the MPI, the other through tonari, and both wait.
std::atomic<bool> finalizing{false};

// Counts communicators that were freed: their handles may mean others from then on.
std::atomic<unsigned long> freed{0};

// The communicator is freed, which is collective.
int forget(MPI_Comm, int, void* value, void*) {
  const std::unique_ptr<Communicator> state(static_cast<Communicator*>(value));
  freed.fetch_add(1, std::memory_order_release);
  {
    const std::lock_guard lock(live().mutex);
    live().all.erase(state.get());
  }
  ahead_ends(*state);
  free_neighborhood(*state);
  return MPI_SUCCESS;
}

void make_key() {
  const std::lock_guard lock(live().mutex);
  if (live().key == MPI_KEYVAL_INVALID)
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &live().key, nullptr);
}

Communicator* found(MPI_Comm comm) {
  void* value = nullptr;
  int is_there = 0;
  make_key();
  (void)PMPI_Comm_get_attr(comm, live().key, &value, &is_there);
  return is_there ? static_cast<Communicator*>(value) : nullptr;
}

Communicator& state_of_one_call() {
  thread_local Communicator state;
  state = {};
  state.attached = false;
  return state;
}

Communicator& make(MPI_Comm comm) {
  auto state = std::make_unique<Communicator>();
  if (PMPI_Comm_set_attr(comm, live().key, state.get()) != MPI_SUCCESS) return state_of_one_call();
  const std::lock_guard lock(live().mutex);
  return **live().all.insert(state.release()).first;
}

// The states stay: communicators have them as long as they live.
void forget_everything(const char* why) {
  std::vector<Communicator*> all;
  {
    const std::lock_guard lock(live().mutex);
    all.assign(live().all.begin(), live().all.end());
  }
  for (Communicator* state : all) retire(*state, why);
}

// The last one of a thread, as long as no communicator was freed.
struct Last {
  MPI_Comm comm = MPI_COMM_NULL;
  unsigned long freed = 0;
  Communicator* state = nullptr;
};
thread_local Last last;

}  // namespace

Communicator* known_state(MPI_Comm comm) {
  const unsigned long now = freed.load(std::memory_order_acquire);
  if (!last.state || last.comm != comm || last.freed != now) last = {comm, now, found(comm)};
  return last.state;
}

Communicator& attached_state(MPI_Comm comm) {
  if (!known_state(comm)) last.state = &make(comm);
  return *last.state;
}

void sessions_end(const char* why) {
  forget_everything(why);
  freed.fetch_add(1, std::memory_order_release);
  const std::lock_guard lock(live().mutex);
  if (live().key != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&live().key);
  for (Communicator* state : live().all) delete state;
  live().all.clear();
}

void finalize_begins() {
  finalizing = true;
  forget_everything(at_finalize);
}
bool finalize_has_begun() { return finalizing.load(); }

}  // namespace tonari::preload
