// SPDX-License-Identifier: BSD-3-Clause
// Builds the exchanges of one kind.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "grid/halo_grid.hpp"
#include "grid/halo_program.hpp"
#include "grid/halo_use.hpp"
#include "neighborhood/request.hpp"
#include "request/prepared.hpp"
#include "request/settings.hpp"

namespace tonari {

// The exchanges of one kind: one, or several of which starts choose.
struct HaloExchanges {
  // Each with its names. The label tells it from the others.
  std::vector<std::shared_ptr<Prepared>> all = {};
  // that they use from the context's first one on: free for other kinds, too, until one is chosen,
  // as they run one after the other
  std::size_t tags = 0;
  OnlineExchange::Remember remember = nullptr;  // of several: which of them has won
  std::string details = {};                     // of one: lines for tonari_request_describe
  bool by_starts = false;  // of one: starts choose inside of it, and it tells (Prepared::tell_of)
};

// What is to be prepared, and for whom.
struct HaloTask {
  std::shared_ptr<HaloGrid> grid;
  HaloRequest request;
  Use use;
  MPI_Info info;
  const Settings& settings;
};

// Collective. contenders: at most so many; more than one only for a part whose starts choose.
HaloExchanges build_exchanges(const HaloTask& task, HaloKind kind, std::size_t contenders,
                              const std::shared_ptr<const GridMark>& mark);

}  // namespace tonari
