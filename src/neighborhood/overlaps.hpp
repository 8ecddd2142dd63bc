// SPDX-License-Identifier: BSD-3-Clause
// Receive blocks share no byte with any other block.
#pragma once

#include "channels/arguments.hpp"
#include "engine/comm/local_topology.hpp"

namespace tonari {

// Throws Errc::buffers if a receive block shares a byte with another block. Local.
void check_overlaps(const LocalTopology& topology, Collective collective, const Binding& binding);

}  // namespace tonari
