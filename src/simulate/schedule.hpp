// SPDX-License-Identifier: BSD-3-Clause
// What is simulated: the steps of all ranks, and which of them wait for which.
//
// On a torus all ranks do the same, so there is one program whose peers are shifts. Elsewhere each
// rank has a program of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/grid.hpp"

namespace tonari::sim {

enum class Act : std::uint8_t { send, recv, calc };  // the order in which they start at one time

inline constexpr std::uint32_t any = ~std::uint32_t{0};  // peer or tag of a receive

struct Step {
  std::uint64_t size = 0;  // bytes of a message, or ticks of a calculation
  std::uint32_t peer = 0;  // a rank; in a shared program the number of a shift
  // the other end of the message, as a step of the peer's program; without matches the tag
  std::uint32_t other = 0;
  std::uint32_t waits = 0;  // for so many steps of its rank
  Act act = Act::calc;
};

// The step waits for another, until it is done or until it has started.
struct After {
  std::uint32_t step : 31;
  std::uint32_t started : 1;
};

struct Shift {
  Vec offset;         // each coordinate from 0 to below the size of the torus
  bool self = false;  // it leads to the rank itself
};

struct Schedule {
  std::uint32_t ranks = 0;
  bool matched = true;  // each message's other end is known beforehand
  std::vector<Step> steps;
  std::vector<std::uint32_t> begin;  // first step of each rank, and the end; shared: 0 and end
  std::vector<std::uint64_t> after_begin;  // per step, and the end
  std::vector<After> after;                // steps by their place in the rank's program

  // of a shared program only
  std::vector<std::uint32_t> dims;
  std::vector<Shift> shifts;

  bool shared() const { return !dims.empty(); }
  std::uint64_t total_steps() const { return shared() ? steps.size() * ranks : steps.size(); }
};

}  // namespace tonari::sim
