// SPDX-License-Identifier: BSD-3-Clause
// Which exchange a grid's request gets: the one that was asked for or remembered, those that its
// first starts choose from, or what a contest at init found fastest.
#pragma once

#include <memory>
#include <string>

#include "grid/halo_exchanges.hpp"

namespace tonari {

struct HaloChoice {
  std::shared_ptr<Prepared> prepared = {};
  std::size_t tags = 0;  // of the context, that it needs from the first one on
  // lines for tonari_request_describe; those of a race are told by what is prepared (tell_of)
  std::string details = {};
  bool by_starts = false;
};

// Collective, in a scope that all ranks are in.
HaloChoice choose_halo(const HaloTask& task);

}  // namespace tonari
