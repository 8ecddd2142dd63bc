// SPDX-License-Identifier: BSD-3-Clause
// Store and forward on a virtual process topology (topology/virtual_topology.hpp), the thesis's
// baseline (Duymuş 2021, §3.3): in each stage all that goes to one neighbor is one message.
#pragma once

#include "planners/patterns/routes.hpp"
#include "topology/virtual_topology.hpp"

namespace tonari {

// sizes: as VirtualTopology's.
Routes forward_routes(const CommunicationMatrix& matrix, std::span<const int> sizes);

// n: dimensions, as virtual_topology's
MessageSchedule store_and_forward(const CommunicationMatrix& matrix, int n);

}  // namespace tonari
