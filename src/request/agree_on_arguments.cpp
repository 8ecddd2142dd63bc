// SPDX-License-Identifier: BSD-3-Clause
#include "request/agree_on_arguments.hpp"

#include "request/settings.hpp"

namespace tonari {

Compared agree_on_arguments(MPI_Comm comm, MPI_Info info, const std::optional<Error>& wrong,
                            std::span<const Alike> things) {
  std::array<Ballot, Vote::ballots_at_once> ballots;
  for (std::size_t k = 0; k < things.size(); ++k) ballots[k] = things[k].ballot;
  Vote vote(comm, wrong ? &*wrong : nullptr, std::span(ballots).first(things.size()));
  vote.wait();
  vote.conclude();
  Compared compared;
  compared.count = things.size();
  for (std::size_t k = 0; k < things.size(); ++k) {
    compared.same[k] = vote.same(k), compared.said[k] = vote.said(k);
    if (compared.same[k] || !things[k].otherwise) continue;
    if (things[k].otherwise == other_settings) fail_on_different_settings(comm, info);
    fail(Errc::mismatch, things[k].otherwise);
  }
  return compared;
}

}  // namespace tonari
