// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of a cube's ghosts as schedules (Zhao et al. 2021): a message per neighbor, packed or
// mapped, or one for each contiguous piece of the bricks.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cost/loggp.hpp"
#include "simulate/schedule.hpp"

namespace tonari::sim {

enum class HaloWay : std::uint8_t { pack, basic, layout, memmap };
const char* name(HaloWay way);
std::optional<HaloWay> halo_way_named(std::string_view name);

// A subdomain of doubles, as large in each of three dimensions.
struct HaloCube {
  std::int64_t size = 64, ghost = 8, brick = 8;  // cells along a dimension
  std::int64_t page = 4096;                      // bytes to which memmap pads its regions
};

struct HaloMessage {
  Vec offset;
  std::uint64_t bytes = 0;
  std::uint64_t rows = 0, row_bytes = 0;  // contiguous pieces that are copied at each end
};

// Of one rank to its 26 neighbors; empty ones are left out. Throws Errc::argument where bricks do
// not fit the cube (src/layout/brick_layout.hpp).
//
//   pack    26 messages out of an array and into it, each row of cells a copy
//   basic   every region of the surface to each neighbor that needs it: 98
//   layout  consecutive regions together, in the best order: 42
//   memmap  26, of whole pages without what they begin and end with
std::vector<HaloMessage> halo_messages(HaloWay way, const HaloCube& cube);

// All ranks of a torus exchange them: receives first, then copies and sends. ranks: periodic, of
// three dimensions; else throws Errc::topology.
Schedule halo_schedule(HaloWay way, const HaloCube& cube, const Grid& ranks, const LogGP& machine);

}  // namespace tonari::sim
