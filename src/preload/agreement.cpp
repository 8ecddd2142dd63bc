// SPDX-License-Identifier: BSD-3-Clause
#include "preload/agreement.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.hpp"
#include "mpi/owned_info.hpp"
#include "mpi/quirks.hpp"
#include "preload/attribute.hpp"
#include "preload/progress.hpp"
#include "preload/vote.hpp"

namespace tonari::preload {
namespace {

// `described` and `in_place_asked` stay false on all ranks where one cannot attach what was agreed.
constexpr const char* not_attached = "no memory for an attribute";

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

// Collective. Where the MPI delivers other blocks than tonari, calls do not take turns.
void choose(Communicator& state, const Vote& all) {
  if (!(all.distinct && all.balanced) && quirks().neighbors)
    always(state, all.repairs ? Backend::tonari : Backend::native,
           all.repairs ? "TONARI_REPAIR" : "this MPI delivers other blocks");
  else if (all.wants == 2)
    always(state, Backend::tonari, "TONARI_PRELOAD");
  if (state.dispatches[0].next() == Backend::native && !state.nonblocking)
    give_up(state, state.why);
}

bool makes_neighborhood(MPI_Comm comm, Communicator& state) {
  const InTonari now;
  // the first calls say which way later ones take
  OwnedInfo at_once;
  (void)error_of([&] { at_once = OwnedInfo("tonari_connect_after", "0"); });
  return tonari_neighborhood_create_from_comm(comm, at_once.get(), &state.near) == TONARI_SUCCESS;
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
void agree_on_neighborhood(MPI_Comm comm, Communicator& state) {
  const bool room = takes_room();
  Vote vote = my_vote(!state.attached ? no_attribute : room ? enough : too_many, true);
  const Vote first = least_of_all(comm, vote);
  state.described = first.room != no_attribute;
  const bool made = first.room == enough && first.wants > 0 && makes_neighborhood(comm, state);
  if (!made) {
    if (room) leave_room();
    return always(state, Backend::native,
                  !state.described         ? not_attached
                  : !first.wants           ? "TONARI_PRELOAD"
                  : first.room == too_many ? "too many communicators"
                                           : "tonari has no neighborhood for it");
  }
  read_degrees(state, vote);
  const Vote all = least_of_all(comm, vote);
  choose_nonblocking(state, all);
  choose(state, all);
}

// Collective, for calls in place.
void ask_about_in_place(MPI_Comm comm, Communicator& state) {
  int inter = 1;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter) {
    state.dispatch(Kind::in_place) = Dispatch(Backend::native);
    state.in_place_asked = true;
    return;
  }
  const Vote all = least_of_all(comm, my_vote(state.attached ? enough : no_attribute, true));
  state.in_place_asked = all.room != no_attribute;
  if (state.in_place_asked && all.wants == 1) return;
  const bool ours = state.in_place_asked && all.wants == 2;
  state.dispatch(Kind::in_place) = Dispatch(ours ? Backend::tonari : Backend::native);
  state.why_in_place = state.in_place_asked ? "TONARI_PRELOAD" : not_attached;
}

bool goes_native(Communicator& state, Kind kind) {
  const Dispatch& dispatch = state.dispatch(kind);
  return !dispatch.tries() && dispatch.next() == Backend::native;
}

// Collective, but for what all ranks see the same by themselves.
void describe(MPI_Comm comm, Communicator& state) {
  if (finalize_has_begun()) return retire(state, at_finalize);
  if (has_neighborhood(comm)) return agree_on_neighborhood(comm, state);
  always(state, Backend::native, "no neighborhood");
  state.described = true;
}

}  // namespace

bool has_neighborhood(MPI_Comm comm) {
  int inter = 0, topology = MPI_UNDEFINED;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter) return false;
  return PMPI_Topo_test(comm, &topology) == MPI_SUCCESS && topology != MPI_UNDEFINED;
}

int targets_of(MPI_Comm comm) {
  int topology = MPI_UNDEFINED, rank = 0, count = 0, in = 0, weighted = 0;
  if (PMPI_Topo_test(comm, &topology) != MPI_SUCCESS) return 0;
  if (topology == MPI_DIST_GRAPH)
    (void)PMPI_Dist_graph_neighbors_count(comm, &in, &count, &weighted);
  if (topology == MPI_GRAPH && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS)
    (void)PMPI_Graph_neighbors_count(comm, rank, &count);
  if (topology == MPI_CART && PMPI_Cartdim_get(comm, &count) == MPI_SUCCESS) count *= 2;
  return count;
}

Communicator& state_of(MPI_Comm comm) {
  Communicator& state = attached_state(comm);
  if (!state.described) [[unlikely]]
    describe(comm, state);
  return state;
}

Communicator& state_for(Kind kind, MPI_Comm comm) {
  Communicator& state = state_of(comm);
  if (kind == Kind::in_place && !state.in_place_asked) [[unlikely]]
    ask_about_in_place(comm, state);
  return state;
}

bool may_be_the_only_call(Kind kind, MPI_Comm comm) {
  if (kind == Kind::in_place) return false;
  Communicator& state = attached_state(comm);
  if (state.described || state.came_once) [[likely]]
    return false;
  if (finalize_has_begun() || !has_neighborhood(comm)) return false;
  const Vote all = least_of_all(comm, my_vote(state.attached ? enough : no_attribute, true));
  // Where calls do not take turns, or one rank could not remember this one, it is as any other.
  if (all.room != enough || all.wants != 1 || all.repairs) return false;
  return state.came_once = true;
}

void compare(MPI_Comm comm, Communicator& state, Dispatch& dispatch) {
  const std::array<double, 2> mine = dispatch.best();
  std::array<double, 2> slowest = mine;
  if (PMPI_Allreduce(mine.data(), slowest.data(), 2, MPI_DOUBLE, MPI_MAX, comm) != MPI_SUCCESS)
    return;
  dispatch.decide(slowest);
  if (goes_native(state, Kind::alltoall) && goes_native(state, Kind::allgather) &&
      !state.nonblocking)
    give_up(state, state.why);
}

}  // namespace tonari::preload
