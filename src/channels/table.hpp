// SPDX-License-Identifier: BSD-3-Clause
// The table of all channels.
#pragma once

#include "select/channel.hpp"

namespace tonari {

extern const Channel p2p_packed, p2p_typed, shared_memory, one_sided, native_collective;

// The first channel carries what others leave.
Channels all_channels();

}  // namespace tonari
