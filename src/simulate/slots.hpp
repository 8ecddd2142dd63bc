// SPDX-License-Identifier: BSD-3-Clause
// What the engine keeps of each rank and of each of its steps.
//
// What waits at a rank stands in four queues, by what it needs. The first of a queue goes before
// the others of it, so only the best of four is an event of the queue of all ranks:
//
//   work    processor                       calculations, sends that pass no interface
//   out     processor, sending interface    sends
//   local   processor                       messages that have passed no interface
//   in      processor, receiving interface  messages
#pragma once

#include <array>
#include <cstdint>

#include "simulate/machine.hpp"

namespace tonari::sim {

inline constexpr std::uint32_t nothing = ~std::uint32_t{0};
enum Waiting : std::uint8_t { work, out, local, in, queues };

// A message is known by the slot of its receive, and without matches by that of its send.
struct Slot {
  std::uint32_t order = 0;        // the number given when it became ready, or its message was sent
  std::uint32_t next = nothing;   // in its queue
  std::uint32_t waits : 28 = 0;   // for so many steps
  std::uint32_t posted : 1 = 0;   // a receive that waits for its message
  std::uint32_t arrived : 1 = 0;  // its message was taken before it was posted
};

struct Rank {
  Ticks free = 0;           // from when the processor is free
  Ticks wake_time = never;  // its event
  std::uint32_t wake_order = 0;
  std::array<std::uint32_t, queues> head{nothing, nothing, nothing, nothing};
  std::array<std::uint32_t, queues> tail{};
};

}  // namespace tonari::sim
