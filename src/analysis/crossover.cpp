// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/crossover.hpp"

#include "cost/simulator.hpp"

namespace tonari {

std::int64_t crossover_bytes(std::span<const Plan> plans, std::span<const Plan> reference,
                             const LinkCosts& links) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  const auto faster = [&](std::uint64_t block) {
    const BlockBytes bytes = [block](Slice) { return block; };
    return simulate_by_distance(plans, bytes, links) <
           simulate_by_distance(reference, bytes, links);
  };
  if (!faster(1)) return 0;
  std::uint64_t low = 1, high = 2;  // still faster at low
  for (; high <= most && faster(high); high *= 2) low = high;
  if (high > most) return -1;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (faster(middle) ? low : high) = middle;
  }
  return static_cast<std::int64_t>(high);
}

std::int64_t crossover_bytes(std::span<const Plan> plans, std::span<const Plan> reference,
                             const LogGP& machine) {
  return crossover_bytes(plans, reference, alike(machine, {}));
}

}  // namespace tonari
