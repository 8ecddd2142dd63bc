// SPDX-License-Identifier: BSD-3-Clause
// Looks for the order of surface regions with the fewest messages. Not for use at run time: the
// orders found are in a table (surface_order.hpp).
#pragma once

#include <chrono>
#include <cstdint>

#include "layout/surface_order.hpp"

namespace tonari {

// One attempt: a random walk over the regions, extended and turned (surface_search.cpp) at most
// `most_steps` times; ends early where the order has the least number of messages. The same for the
// same seed on every machine. Throws Errc::argument unless 1 <= dims <= 5.
SurfaceOrder search_surface_order(int dims, std::uint64_t seed, std::uint64_t most_steps);

// Attempts with seeds 1, 2, ... until one has the least number of messages or the time is up; at
// least one. The best of them, the first of equals: so the answer depends on the machine only where
// the least number is not reached in time.
SurfaceOrder search_surface_order(int dims, std::chrono::duration<double> time);

}  // namespace tonari
