#include "engine/comm_context.hpp"

#include <mutex>
#include <vector>

#include "channels/mpi_error.hpp"
#include "engine/agree.hpp"

namespace tonari {
namespace {

// Contexts that hang on communicators of the program. When MPI is finalized they go first, while everything still works: it deletes the attributes of
// MPI_COMM_SELF before all else.
struct Attached {
  std::mutex mutex;
  std::vector<std::shared_ptr<Context>*> all;
  int key = MPI_KEYVAL_INVALID;
};

Attached& attached() {
  static Attached* const all = new Attached;
  return *all;
}

int drop_context(MPI_Comm, int, void* value, void*) {
  auto* const held = static_cast<std::shared_ptr<Context>*>(value);
  {
    const std::lock_guard lock(attached().mutex);
    std::erase(attached().all, held);
  }
  delete held;
  return MPI_SUCCESS;
}

int drop_all_contexts(MPI_Comm, int, void*, void*) {
  for (std::shared_ptr<Context>* held : attached().all) held->reset();
  return MPI_SUCCESS;
}

int context_key() {
  const std::lock_guard lock(attached().mutex);
  int& key = attached().key;
  if (key != MPI_KEYVAL_INVALID) return key;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop_context, &key, nullptr), "MPI_Comm_create_keyval");
  int at_end = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop_all_contexts, &at_end, nullptr), "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, at_end, nullptr), "MPI_Comm_set_attr");
  return key;
}

}  // namespace

std::shared_ptr<Context> context_of(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(comm, context_key(), &value, &found), "MPI_Comm_get_attr");
  if (found) return *static_cast<std::shared_ptr<Context>*>(value);
  agree(comm, {});  // all are here: from now on none waits for what another has in flight
  auto held = std::make_unique<std::shared_ptr<Context>>(std::make_shared<Context>(comm));
  check_mpi(MPI_Comm_set_attr(comm, context_key(), held.get()), "MPI_Comm_set_attr");
  const std::lock_guard lock(attached().mutex);
  attached().all.push_back(held.get());
  return *held.release();
}

}  // namespace tonari
