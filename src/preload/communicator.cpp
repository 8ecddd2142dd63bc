// SPDX-License-Identifier: BSD-3-Clause
#include "preload/communicator.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "base/setting.hpp"
#include "channels/quirks.hpp"

namespace tonari::preload {
namespace {

// Each neighborhood has shared memory of its own, at most 4 MiB: a program with more communicators
// than this has the others' calls done by its MPI.
constexpr std::size_t most_live = 64;

// Never destroyed: MPI_Finalize may come after the destructors of static objects.
struct Live {
  std::mutex mutex;
  std::unordered_set<Communicator*> all;
  std::size_t neighborhoods = 0;
  int key = MPI_KEYVAL_INVALID;
};
Live& live() {
  static Live* const all = new Live;
  return *all;
}

// Counts communicators that were freed: their handles may mean others from then on.
std::atomic<unsigned long> freed{0};

void free_neighborhood(Communicator& state) {
  if (!state.near) return;
  (void)tonari_neighborhood_free(&state.near);
  const std::lock_guard lock(live().mutex);
  --live().neighborhoods;
}

// The communicator is freed, which is collective.
int forget(MPI_Comm, int, void* value, void*) {
  auto* const state = static_cast<Communicator*>(value);
  freed.fetch_add(1, std::memory_order_release);
  {
    const std::lock_guard lock(live().mutex);
    if (live().all.erase(state) == 0) return MPI_SUCCESS;  // MPI_Finalize was here before
  }
  free_neighborhood(*state);
  delete state;
  return MPI_SUCCESS;
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF first, in the order opposite to that in
// which they were set. So this comes before libtonari's own, for communicators that nobody freed.
int forget_all(MPI_Comm, int, void*, void*) {
  freed.fetch_add(1, std::memory_order_release);
  std::unordered_set<Communicator*> left;
  {
    const std::lock_guard lock(live().mutex);
    left.swap(live().all);
  }
  for (Communicator* state : left) {
    free_neighborhood(*state);
    delete state;
  }
  return MPI_SUCCESS;
}

void make_key() {
  const std::lock_guard lock(live().mutex);
  if (live().key == MPI_KEYVAL_INVALID)
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &live().key, nullptr);
}

void clean_up_at_end() {
  static std::once_flag once;
  std::call_once(once, [] {
    int at_end = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_all, &at_end, nullptr);
    PMPI_Comm_set_attr(MPI_COMM_SELF, at_end, nullptr);
  });
}

// ---- what ranks agree on

bool has_neighborhood(MPI_Comm comm) {
  int between_groups = 0, topology = MPI_UNDEFINED;
  if (PMPI_Comm_test_inter(comm, &between_groups) != MPI_SUCCESS || between_groups) return false;
  return PMPI_Topo_test(comm, &topology) == MPI_SUCCESS && topology != MPI_UNDEFINED;
}

bool distinct(std::vector<int> ranks) {
  std::erase(ranks, MPI_PROC_NULL);
  std::ranges::sort(ranks);
  return std::ranges::adjacent_find(ranks) == ranks.end();
}

bool takes_room() {
  const std::lock_guard lock(live().mutex);
  if (live().neighborhoods >= most_live) return false;
  ++live().neighborhoods;
  return true;
}
void leave_room() {
  const std::lock_guard lock(live().mutex);
  --live().neighborhoods;
}

// What one rank has to say; the least of all ranks' words counts.
struct Vote {
  int room = 0;     // for one neighborhood more
  int wants = 0;    // 0: native, 1: auto, 2: tonari
  int repairs = 0;  // TONARI_REPAIR
  // This rank has no neighbor twice, and receives no more blocks than it sends: what MPICH 4 gets
  // right (channels/quirks.hpp).
  int usual = 1;
};
constexpr int words = sizeof(Vote) / sizeof(int);

int wanted() {
  const std::string mode = in_environment(setting(SettingId::preload)).value_or("auto");
  return mode == "native" ? 0 : mode == "tonari" ? 2 : 1;
}
int repairs() { return in_environment(setting(SettingId::repair)).value_or("0") == "1"; }

Vote least_of_all(MPI_Comm comm, Vote vote) {
  Vote least;
  if (PMPI_Allreduce(&vote, &least, words, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS) return {};
  return least;
}

void read_degrees(Communicator& state, Vote& vote) {
  (void)tonari_neighborhood_degrees(state.near, &state.sources, &state.targets);
  std::vector<int> from(static_cast<std::size_t>(state.sources)),
      to(static_cast<std::size_t>(state.targets));
  (void)tonari_neighborhood_ranks(state.near, to.data(), from.data());
  vote.usual = distinct(from) && distinct(to) && state.sources <= state.targets;
}

void always(Communicator& state, Way way, const char* why) {
  state.choices = {Choice(way), Choice(way)};
  state.why = why;
}

// Collective. Where the MPI delivers other blocks than tonari, calls do not take turns.
void choose(Communicator& state, const Vote& all) {
  if (!all.usual && quirks().neighbors)
    always(state, all.repairs ? Way::tonari : Way::native,
           all.repairs ? "TONARI_REPAIR" : "this MPI delivers other blocks");
  else if (all.wants == 2)
    always(state, Way::tonari, "TONARI_PRELOAD");
  if (state.choices[0].next() == Way::native) give_up(state, state.why);
}

// Collective.
void describe_once(MPI_Comm comm, Communicator& state) {
  const bool room = takes_room();
  Vote vote{.room = room, .wants = wanted(), .repairs = repairs()};
  const Vote first = least_of_all(comm, vote);
  const bool made =
      first.room && first.wants > 0 &&
      tonari_neighborhood_create_from_comm(comm, MPI_INFO_NULL, &state.near) == TONARI_SUCCESS;
  if (!made) {
    if (room) leave_room();
    return always(state, Way::native,
                  !first.wants  ? "TONARI_PRELOAD"
                  : !first.room ? "too many communicators"
                                : "tonari has no neighborhood for it");
  }
  clean_up_at_end();
  read_degrees(state, vote);
  choose(state, least_of_all(comm, vote));
}

Communicator& make(MPI_Comm comm) {
  auto* const state = new Communicator;
  {
    const std::lock_guard lock(live().mutex);
    live().all.insert(state);
  }
  if (PMPI_Comm_set_attr(comm, live().key, state) != MPI_SUCCESS || !has_neighborhood(comm))
    always(*state, Way::native, "no neighborhood");
  else
    describe_once(comm, *state);
  return *state;
}

Communicator& found_or_made(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  make_key();
  if (PMPI_Comm_get_attr(comm, live().key, &value, &found) == MPI_SUCCESS && found)
    return *static_cast<Communicator*>(value);
  return make(comm);
}

// The last one of a thread, as long as no communicator was freed.
struct Last {
  MPI_Comm comm = MPI_COMM_NULL;
  unsigned long freed = 0;
  Communicator* state = nullptr;
};
thread_local Last last;

}  // namespace

Communicator& state_of(MPI_Comm comm) {
  const unsigned long now = freed.load(std::memory_order_acquire);
  if (!last.state || last.comm != comm || last.freed != now)
    last = {comm, now, &found_or_made(comm)};
  return *last.state;
}

void compare(MPI_Comm comm, Communicator& state, Choice& choice) {
  const std::array<double, 2> mine = choice.best();
  std::array<double, 2> slowest = mine;
  if (PMPI_Allreduce(mine.data(), slowest.data(), 2, MPI_DOUBLE, MPI_MAX, comm) != MPI_SUCCESS)
    return;
  choice.decide(slowest);
  const auto native = [](const Choice& each) {
    return !each.tries() && each.next() == Way::native;
  };
  if (std::ranges::all_of(state.choices, native)) give_up(state, state.why);
}

void give_up(Communicator& state, const char* why) {
  free_neighborhood(state);
  always(state, Way::native, why);
}

}  // namespace tonari::preload
