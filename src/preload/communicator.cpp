// SPDX-License-Identifier: BSD-3-Clause
#include "preload/communicator.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "mpi/quirks.hpp"
#include "preload/progress.hpp"
#include "preload/vote.hpp"

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
  int used = 0, in_vain = 0;  // communicators connected ahead, for which that was good or not
  int key = MPI_KEYVAL_INVALID;
};
Live& live() {
  static Live* const all = new Live;
  return *all;
}

// Callbacks run in an order of their own on each rank, so from MPI_Finalize on all calls go to the
// MPI. A limit: a rank's callback may meet a call that another rank makes before its MPI_Finalize.
// One of them goes to the MPI, the other through tonari, and both wait.
std::atomic<bool> finalizing{false};
constexpr const char* ended = "MPI_Finalize";

// Counts communicators that were freed: their handles may mean others from then on.
std::atomic<unsigned long> freed{0};

void free_neighborhood(Communicator& state) {
  if (!state.near) return;
  const InTonari now;
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
    live().all.erase(state);
    live().in_vain += state->ahead && !state->used;
  }
  free_neighborhood(*state);
  delete state;
  return MPI_SUCCESS;
}

void make_key() {
  const std::lock_guard lock(live().mutex);
  if (live().key == MPI_KEYVAL_INVALID)
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &live().key, nullptr);
}

// ---- what ranks agree on

bool has_neighborhood(MPI_Comm comm) {
  int between_groups = 0, topology = MPI_UNDEFINED;
  if (PMPI_Comm_test_inter(comm, &between_groups) != MPI_SUCCESS || between_groups) return false;
  return PMPI_Topo_test(comm, &topology) == MPI_SUCCESS && topology != MPI_UNDEFINED;
}

// `described` and `in_place_asked` stay false on all ranks where one cannot keep what was agreed.
constexpr const char* not_kept = "no memory for an attribute";

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

// Four are enough to find out, and then one in vain for each that was used.
int worth_it() {
  const std::lock_guard lock(live().mutex);
  return live().in_vain < 4 + live().used;
}

bool distinct(std::vector<int> ranks) {
  std::erase(ranks, MPI_PROC_NULL);
  std::ranges::sort(ranks);
  return std::ranges::adjacent_find(ranks) == ranks.end();
}

void read_degrees(Communicator& state, Vote& vote) {
  (void)tonari_neighborhood_degrees(state.near, &state.sources, &state.targets);
  std::vector<int> from(static_cast<std::size_t>(state.sources)),
      to(static_cast<std::size_t>(state.targets));
  (void)tonari_neighborhood_ranks(state.near, to.data(), from.data());
  vote.distinct = distinct(from) && distinct(to);
  vote.balanced = state.sources <= state.targets;
}

void always(Communicator& state, Way way, const char* why) {
  for (const Kind kind : {Kind::alltoall, Kind::allgather}) state.choice(kind) = Choice(way);
  state.why = why;
  if (!state.nonblocking) state.why_nonblocking = why;
}

// Collective. Where the MPI delivers other blocks than tonari, calls do not take turns.
void choose(Communicator& state, const Vote& all) {
  if (!(all.distinct && all.balanced) && quirks().neighbors)
    always(state, all.repairs ? Way::tonari : Way::native,
           all.repairs ? "TONARI_REPAIR" : "this MPI delivers other blocks");
  else if (all.wants == 2)
    always(state, Way::tonari, "TONARI_PRELOAD");
  if (state.choices[0].next() == Way::native && !state.nonblocking) give_up(state, state.why);
}

bool makes_neighborhood(MPI_Comm comm, Communicator& state) {
  const InTonari now;
  return tonari_neighborhood_create_from_comm(comm, MPI_INFO_NULL, &state.near) == TONARI_SUCCESS;
}

// All ranks do what the least able one can.
const char* why_undriven() {
  const char* const here = why_not_driven();
  return here ? here : "the MPI of another rank does not drive exchanges of others";
}

// Exchanges that begin can neither be timed nor be compared without waiting, so there is a rule. In
// closed dimensions of one or two ranks Open MPI's non-blocking calls swap the two blocks.
void choose_nonblocking(Communicator& state, const Vote& all) {
  const bool other_blocks = !all.distinct && !all.repairs;
  state.why_nonblocking = !all.drives      ? why_undriven()
                          : !all.streams   ? "a setting of tonari"
                          : other_blocks   ? "this MPI may deliver other blocks"
                          : all.wants == 2 ? "TONARI_PRELOAD"
                          : all.one_node() ? "one node"
                                           : "several nodes";
  state.persistent = all.drives && !other_blocks;
  state.nonblocking =
      all.drives && all.streams && !other_blocks && (all.wants == 2 || all.one_node());
}

// Collective.
void describe_once(MPI_Comm comm, Communicator& state) {
  const bool room = takes_room();
  Vote vote = my_vote(!state.kept ? no_attribute : room ? enough : too_many, worth_it());
  const Vote first = least_of_all(comm, vote);
  state.described = first.room != no_attribute;
  const bool made = first.room == enough && first.wants > 0 && makes_neighborhood(comm, state);
  if (!made) {
    if (room) leave_room();
    return always(state, Way::native,
                  !state.described         ? not_kept
                  : !first.wants           ? "TONARI_PRELOAD"
                  : first.room == too_many ? "too many communicators"
                                           : "tonari has no neighborhood for it");
  }
  read_degrees(state, vote);
  const Vote all = least_of_all(comm, vote);
  choose_nonblocking(state, all);
  choose(state, all);
}

// Local: all that is left goes to the MPI.
void retire(Communicator& state, const char* why) {
  give_up(state, why);
  state.described = true;
  state.in_place_asked = true, state.why_in_place = why;
  state.choice(Kind::in_place) = Choice(Way::native);
}

// Collective, for calls in place.
void ask_about_in_place(MPI_Comm comm, Communicator& state) {
  int between_groups = 1;
  if (PMPI_Comm_test_inter(comm, &between_groups) != MPI_SUCCESS || between_groups) {
    state.choice(Kind::in_place) = Choice(Way::native);
    state.in_place_asked = true;
    return;
  }
  const Vote all = least_of_all(comm, my_vote(state.kept ? enough : no_attribute, true));
  state.in_place_asked = all.room != no_attribute;
  if (state.in_place_asked && all.wants == 1) return;
  const bool ours = state.in_place_asked && all.wants == 2;
  state.choice(Kind::in_place) = Choice(ours ? Way::tonari : Way::native);
  state.why_in_place = state.in_place_asked ? "TONARI_PRELOAD" : not_kept;
}

bool goes_native(Communicator& state, Kind kind) {
  const Choice& choice = state.choice(kind);
  return !choice.tries() && choice.next() == Way::native;
}

// Without memory for an attribute: for one call, as the next one cannot find it.
Communicator& not_to_be_kept() {
  thread_local Communicator state;
  state = {};
  state.kept = false;
  return state;
}

// Local.
Communicator& make(MPI_Comm comm) {
  auto state = std::make_unique<Communicator>();
  if (PMPI_Comm_set_attr(comm, live().key, state.get()) != MPI_SUCCESS) return not_to_be_kept();
  const std::lock_guard lock(live().mutex);
  return **live().all.insert(state.release()).first;
}

// Collective, but for what all ranks see the same by themselves.
void describe(MPI_Comm comm, Communicator& state) {
  if (finalizing.load()) return retire(state, ended);
  if (has_neighborhood(comm)) return describe_once(comm, state);
  always(state, Way::native, "no neighborhood");
  state.described = true;
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

Communicator* found(MPI_Comm comm) {
  void* value = nullptr;
  int is_there = 0;
  make_key();
  (void)PMPI_Comm_get_attr(comm, live().key, &value, &is_there);
  return is_there ? static_cast<Communicator*>(value) : nullptr;
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

Communicator& state_of(MPI_Comm comm) {
  if (!known_state(comm)) last.state = &make(comm);
  Communicator& state = *last.state;
  if (!state.described) [[unlikely]]
    describe(comm, state);
  return state;
}

bool uses_nonblocking(Communicator& state) {
  if (!state.nonblocking || !state.connected) return false;
  if (state.ahead && !state.used) {
    state.used = true;
    const std::lock_guard lock(live().mutex);
    ++live().used;
  }
  return true;
}

void prepare(MPI_Comm comm) {
  if (finalizing.load() || !has_neighborhood(comm)) return;
  const Vote all = least_of_all(comm, my_vote(enough, worth_it()));
  if (!all.ahead || !all.drives || !all.streams || !all.wants) return;
  Communicator& state = state_of(comm);
  if (!state.nonblocking) return;
  state.ahead = true;
  (void)connect(state);
}

int connect(Communicator& state) {
  if (state.connected) return TONARI_SUCCESS;
  const InTonari now;
  const int code = tonari_alltoall(nullptr, 0, MPI_BYTE, nullptr, 0, MPI_BYTE, state.near);
  state.connected = code == TONARI_SUCCESS;
  return code;
}

Communicator& state_for(Kind kind, MPI_Comm comm) {
  Communicator& state = state_of(comm);
  if (kind == Kind::in_place && !state.in_place_asked) [[unlikely]]
    ask_about_in_place(comm, state);
  return state;
}

void compare(MPI_Comm comm, Communicator& state, Choice& choice) {
  const std::array<double, 2> mine = choice.best();
  std::array<double, 2> slowest = mine;
  if (PMPI_Allreduce(mine.data(), slowest.data(), 2, MPI_DOUBLE, MPI_MAX, comm) != MPI_SUCCESS)
    return;
  choice.decide(slowest);
  if (goes_native(state, Kind::alltoall) && goes_native(state, Kind::allgather) &&
      !state.nonblocking)
    give_up(state, state.why);
}

void give_up(Communicator& state, const char* why) {
  free_neighborhood(state);
  state.nonblocking = state.persistent = false;
  always(state, Way::native, why);
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
  forget_everything(ended);
}

}  // namespace tonari::preload
