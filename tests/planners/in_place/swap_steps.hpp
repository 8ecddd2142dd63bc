// SPDX-License-Identifier: BSD-3-Clause
// When ranks swap that follow an order.
#pragma once

#include <span>
#include <vector>

#include "base/error.hpp"
#include "planners/in_place/order.hpp"

namespace tonari {

// [i][j]: the step, from 1, in which ranks i and j swap if every rank makes its swaps one after the
// other, each takes one step and starts as early as possible; 0: never. Throws Errc::internal if
// the ranks would block for ever.
inline std::vector<std::vector<int>> swap_steps(
    std::span<const std::vector<std::int32_t>> partners_of) {
  const std::size_t ranks = partners_of.size();
  std::vector<std::vector<int>> steps(ranks, std::vector<int>(ranks, 0));
  std::vector<std::size_t> next(ranks, 0);
  const auto wanted = [&](std::size_t r) {
    return next[r] < partners_of[r].size() ? partners_of[r][next[r]] : -1;
  };
  std::size_t left = 0;
  for (const auto& list : partners_of) left += list.size();
  for (int step = 1; left > 0; ++step) {
    std::vector<std::int32_t> swapping;  // both partners of every swap
    for (std::size_t r = 0; r < ranks; ++r)
      if (const std::int32_t other = wanted(r);
          other >= 0 && wanted(static_cast<std::size_t>(other)) == static_cast<std::int32_t>(r))
        swapping.push_back(static_cast<std::int32_t>(r));
    if (swapping.empty())
      fail(Errc::internal, "in step ", step, " all ranks with swaps left wait for each other");
    for (std::int32_t r : swapping) steps[r][partners_of[r][next[r]]] = step;
    for (std::int32_t r : swapping) ++next[r];
    left -= swapping.size();
  }
  return steps;
}

inline std::vector<std::vector<int>> swap_steps(SwapOrder order, std::int32_t ranks,
                                                std::span<const std::int32_t> node_of = {}) {
  std::vector<std::vector<std::int32_t>> all;
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    all.push_back(partners(order, rank, ranks, node_of));
  return swap_steps(all);
}

}  // namespace tonari
