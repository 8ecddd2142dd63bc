// SPDX-License-Identifier: BSD-3-Clause
// Where the receive blocks of a request arrive.
#pragma once

#include <vector>

#include "channels/arguments.hpp"
#include "engine/comm/local_topology.hpp"

namespace tonari {

// A receive block, for programs that read it where it arrives.
struct Arrival {
  const std::byte* address = nullptr;  // in the receive buffer
  Bytes bytes = 0;
  std::size_t number = 0;  // the block's number in the exchange
};

// The receive blocks by the program's numbers.
std::vector<Arrival> arrivals(const LocalTopology& topology, const Binding& binding);

}  // namespace tonari
