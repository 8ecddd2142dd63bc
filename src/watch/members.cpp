// SPDX-License-Identifier: BSD-3-Clause
#include "watch/members.hpp"

#include <atomic>
#include <mutex>
#include <numeric>

#include "mpi/world.hpp"

namespace tonari::watch {
namespace {

constexpr int most_live = 256;

std::mutex making;
int live = 0;
std::uint64_t made = 0;
std::atomic<unsigned long> freed{0};  // communicators: their handles may mean others from then on

const Members unwatched;

int forget(MPI_Comm, int, void* value, void*) {
  freed.fetch_add(1, std::memory_order_release);
  if (value == &unwatched) return MPI_SUCCESS;
  const std::lock_guard lock(making);
  --live;
  delete static_cast<Members*>(value);
  return MPI_SUCCESS;
}

int key() {
  static const int made_once = [] {
    int fresh = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &fresh, nullptr);
    return fresh;
  }();
  return made_once;
}

bool is_intracommunicator(MPI_Comm comm) {
  int inter = 1;
  return PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter;
}

std::vector<int> world_ranks(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> here(static_cast<std::size_t>(size)), there(here.size());
  std::iota(here.begin(), here.end(), 0);
  PMPI_Group_translate_ranks(group, size, here.data(), world, there.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return there;
}

const Members& make(MPI_Comm comm) {
  const Members* state = &unwatched;
  {
    const std::lock_guard lock(making);
    if (live < most_live && is_intracommunicator(comm)) {
      state = new Members{++made, world_ranks(comm)};
      ++live;
    }
  }
  PMPI_Comm_set_attr(comm, key(), const_cast<Members*>(state));
  return *state;
}

const Members& found(MPI_Comm comm) {
  void* value = nullptr;
  int is_there = 0;
  if (PMPI_Comm_get_attr(comm, key(), &value, &is_there) != MPI_SUCCESS) return unwatched;
  return is_there ? *static_cast<const Members*>(value) : make(comm);
}

struct Last {
  MPI_Comm comm{};
  unsigned long freed = 0;
  const Members* members = nullptr;
};
__attribute__((tls_model("initial-exec"))) thread_local constinit Last last;

}  // namespace

const Members& members_of(MPI_Comm comm) {
  const unsigned long now = freed.load(std::memory_order_acquire);
  if (!last.members || last.comm != comm || last.freed != now) {
    if (comm == MPI_COMM_NULL || !world_runs()) return unwatched;
    last = {comm, now, &found(comm)};
  }
  return *last.members;
}

}  // namespace tonari::watch
