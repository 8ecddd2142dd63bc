// SPDX-License-Identifier: BSD-3-Clause
// Detours of the operating system, which delay what a processor does (Hoefler, Schneider, Lumsdaine
// 2010, synthetic noise).
#pragma once

#include <cstdint>

#include "simulate/machine.hpp"

namespace tonari::sim {

// When work of this length that begins now ends: every detour that begins before then takes its
// time, too. There is noise.
Ticks after_detours(const Noise& noise, std::uint32_t rank, Ticks now, Ticks length);

inline Ticks after_noise(const Noise& noise, std::uint32_t rank, Ticks now, Ticks length) {
  return noise.period == 0 ? now + length : after_detours(noise, rank, now, length);
}

}  // namespace tonari::sim
