// SPDX-License-Identifier: BSD-3-Clause
#include "grid/request.hpp"

#include <array>

#include "grid/agree_on_call.hpp"
#include "grid/make_request.hpp"
#include "request/request_record.hpp"

namespace tonari {

std::shared_ptr<Prepared> prepare_halo(const std::shared_ptr<HaloGrid>& grid, const HaloCall& call,
                                       MPI_Info info, Output output) {
  const double start = MPI_Wtime();
  AgreedHalo agreed = agree_on_halo(*grid, call, info, output, nullptr);
  if (agreed.settings.progress_thread) agreed.settings.tune = at_init(agreed.settings.tune);
  const Use use = agreed.settings.tune == Tune::online ? Use::part : Use::persistent;
  return build_halo({grid, agreed.request, use, info, agreed.settings}, start);
}

void run_halo(const std::shared_ptr<HaloGrid>& grid, const HaloCall& call, KeptCalls& kept) {
  const double start = MPI_Wtime();
  AgreedHalo agreed = agree_on_halo(*grid, call, MPI_INFO_NULL, inside, &kept);
  agreed.settings.tune = Tune::off;
  std::shared_ptr<Prepared> prepared = agreed.kept;
  if (!prepared) {
    prepared =
        build_halo({grid, agreed.request, Use::one_shot, MPI_INFO_NULL, agreed.settings}, start);
    kept.put({agreed.call}, prepared);
  }
  run_to_end(*recorded(std::move(prepared), CalledBy::one_shot));
}

std::shared_ptr<Prepared> prepare_agreed_halo(const std::shared_ptr<HaloGrid>& grid,
                                              const HaloRequest& request) {
  const double start = MPI_Wtime();
  Settings settings;
  const std::optional<Error> wrong = wrong_argument(inside, [&] {
    settings = read_settings(MPI_INFO_NULL, where::any_request | where::grids);
    wanted_kinds(settings.halo, *grid, request);
  });
  agree_on_arguments(grid->context()->comm(), MPI_INFO_NULL, wrong,
                     std::array{Alike{fingerprint(settings), other_settings}});
  settings.tune = Tune::off;
  return build_halo({grid, request, Use::one_shot, MPI_INFO_NULL, settings}, start);
}

}  // namespace tonari
