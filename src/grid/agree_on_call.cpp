// SPDX-License-Identifier: BSD-3-Clause
#include "grid/agree_on_call.hpp"

#include <array>

namespace tonari {

AgreedHalo agree_on_halo(const HaloGrid& grid, const HaloCall& call, MPI_Info info, Output output,
                         KeptCalls* kept) {
  AgreedHalo agreed;
  const std::optional<Error> wrong = wrong_argument(output, [&] {
    agreed.request = read_request(grid, call);
    agreed.settings = read_settings(info, where::any_request | where::grids);
    wanted_kinds(agreed.settings.halo, grid, agreed.request);
  });
  const auto [copy, direction, ghosts, reduction] = alike(grid, call, agreed.request);
  const std::array things{copy, direction, ghosts, reduction,
                          Alike{fingerprint(agreed.settings), other_settings}};
  agreed.call = number_of(things);
  const Compared compared = agree_on_arguments(grid.context()->comm(), info, wrong,
                                               with_votes(things, votes_for({agreed.call}, kept)));
  if (kept) agreed.kept = kept->take(compared);
  if (agreed.settings.halo_faces) agreed.request.reach.along = 1;  // the key was compared by itself
  return agreed;
}

}  // namespace tonari
