// SPDX-License-Identifier: BSD-3-Clause
#include "preload/ahead.hpp"

#include "preload/agreement.hpp"
#include "preload/attribute.hpp"
#include "preload/progress.hpp"
#include "preload/vote.hpp"

namespace tonari::preload {

void prepare(MPI_Comm comm) {
  if (finalize_has_begun() || !has_neighborhood(comm)) return;
  const Vote all = least_of_all(comm, my_vote(enough, ahead_is_worth_it()));
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

bool uses_nonblocking(Communicator& state) {
  if (!state.nonblocking || !state.connected) return false;
  if (state.ahead && !state.used) use_ahead(state);
  return true;
}

}  // namespace tonari::preload
