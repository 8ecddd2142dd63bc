// SPDX-License-Identifier: BSD-3-Clause
#include "preload/communicator.hpp"

#include <atomic>

#include "preload/progress.hpp"

namespace tonari::preload {
namespace {

// Each neighborhood has shared memory of its own, at most 4 MiB: a program with more communicators
// than this has the others' calls done by its MPI.
constexpr int most_live = 64;
std::atomic<int> neighborhoods{0};

// Communicators connected ahead, for which that was good or not.
std::atomic<int> used{0}, in_vain{0};

}  // namespace

bool takes_room() {
  if (neighborhoods.fetch_add(1) < most_live) return true;
  leave_room();
  return false;
}
void leave_room() { neighborhoods.fetch_sub(1); }

void free_neighborhood(Communicator& state) {
  if (!state.near) return;
  const InTonari now;
  (void)tonari_neighborhood_free(&state.near);
  leave_room();
}

// Four are enough to find out, and then one in vain for each that was used.
bool ahead_is_worth_it() { return in_vain.load() < 4 + used.load(); }
void use_ahead(Communicator& state) { state.used = true, ++used; }
void ahead_ends(const Communicator& state) {
  if (state.ahead && !state.used) ++in_vain;
}

void always(Communicator& state, Backend backend, const char* why) {
  for (const Kind kind : {Kind::alltoall, Kind::allgather})
    state.dispatch(kind) = Dispatch(backend);
  state.why = why;
  if (!state.nonblocking) state.why_nonblocking = why;
}

void give_up(Communicator& state, const char* why) {
  free_neighborhood(state);
  state.nonblocking = state.persistent = false;
  always(state, Backend::native, why);
}

void retire(Communicator& state, const char* why) {
  give_up(state, why);
  state.described = true;
  state.in_place_asked = true, state.why_in_place = why;
  state.dispatch(Kind::in_place) = Dispatch(Backend::native);
}

}  // namespace tonari::preload
