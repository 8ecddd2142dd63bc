// SPDX-License-Identifier: BSD-3-Clause
// Exchanges between owners and ghosts: vectors, grids and blocks of cells, forward and reverse.
#pragma once

#include <memory>
#include <string>

#include "peers/exchanges.hpp"

namespace tonari::test {

// Null if the kind is none of these.
std::unique_ptr<VerifiedExchange> make_ghost_exchange(const std::string& kind, int words);

}  // namespace tonari::test
