// SPDX-License-Identifier: BSD-3-Clause
#include "grid/run_halo.hpp"

#include <utility>

#include "grid/agree_on_call.hpp"
#include "grid/make_request.hpp"
#include "request/request_record.hpp"

namespace tonari {

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

}  // namespace tonari
