// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/noise.hpp"

namespace tonari::sim {
namespace {

std::uint64_t mixed(std::uint64_t seed, std::uint64_t rank) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15 + rank;  // SplitMix64
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

}  // namespace

Ticks after_detours(const Noise& noise, std::uint32_t rank, Ticks now, Ticks length) {
  Ticks end = now + length;
  const Ticks phase = mixed(noise.seed, rank) % noise.period;
  Ticks detour = phase;
  if (now > phase) detour += (now - phase + noise.period - 1) / noise.period * noise.period;
  for (; detour < end; detour += noise.period) end += noise.duration;
  return end;
}

}  // namespace tonari::sim
