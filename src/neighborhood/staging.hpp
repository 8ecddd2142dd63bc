// SPDX-License-Identifier: BSD-3-Clause
// Sides of a call that lie in memory of a device: the host exchanges pinned blocks in their place.
// That is a matter of one rank, so ranks with and without such memory take part in one exchange.
#pragma once

#include <memory>

#include "base/settings.hpp"
#include "mpi/packed_type.hpp"
#include "neighborhood/read_call.hpp"
#include "request/staged_exchange.hpp"

namespace tonari {

struct Staging {
  StagedSides sides;
  Binding given;  // the blocks as the program has them
  PackedTypes types;
};

// Allocates pinned memory, and makes `mine` the call that exchanges it. Local. Throws
// Errc::argument where no device of this process serves the memory, or a setting needs memory of
// the host, and Errc::memory.
std::unique_ptr<Staging> stage(ReadCall& mine, const LocalTopology& topology,
                               const Settings& settings);

}  // namespace tonari
