// SPDX-License-Identifier: BSD-3-Clause
#include "planners/in_place/order.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"

namespace tonari {
namespace {

using Ranks = std::vector<std::int32_t>;

constexpr std::array<std::pair<SwapOrder, const char*>, 3> names{
    {{SwapOrder::mpich, "mpich-order"},
     {SwapOrder::linear_shift, "linear-shift"},
     {SwapOrder::hierarchical_sets, "hierarchical-sets"}}};

// Fig. 1: the pairs (i, j), i <= j, row by row. In row i < rank this rank is column j, in row rank
// it is the row. Place of a swap: (i, j).
Ranks mpich_order(std::int32_t ranks) {
  Ranks order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Fig. 3: in step i the two whose ranks add up to i modulo p. Place of a swap: i.
Ranks linear_shift(std::int32_t rank, std::int32_t ranks) {
  Ranks order;
  for (std::int32_t i = 0; i < ranks; ++i)
    if (const std::int32_t j = (i - rank + ranks) % ranks; j != rank) order.push_back(j);
  return order;
}

// The ranks in a line, those of one node beside each other, and where nodes begin.
struct Line {
  Ranks ranks;  // nodes in the order of their first ranks, ranks ascending
  // places in `ranks` where a node begins, and the end; without nodes: all are on one
  std::vector<std::int32_t> nodes;

  Line(std::int32_t count, std::span<const std::int32_t> node_of)
      : ranks(mpich_order(count)), nodes{0} {
    if (!node_of.empty()) {
      std::unordered_map<std::int32_t, std::int32_t> first;
      for (std::int32_t r = 0; r < count; ++r) first.try_emplace(node_of[r], r);
      Ranks first_of(ranks.size());
      for (std::int32_t r = 0; r < count; ++r) first_of[r] = first[node_of[r]];
      std::stable_sort(ranks.begin(), ranks.end(),
                       [&](std::int32_t a, std::int32_t b) { return first_of[a] < first_of[b]; });
      for (std::int32_t k = 1; k < count; ++k)
        if (first_of[ranks[k]] != first_of[ranks[k - 1]]) nodes.push_back(k);
    }
    nodes.push_back(count);
  }

  // Where the set [low, high) is cut: between nodes, as near to its middle as possible; a set
  // within a node in its middle.
  std::int32_t cut(std::int32_t low, std::int32_t high) const {
    const std::int32_t middle = low + (high - low) / 2;
    const auto after = std::upper_bound(nodes.begin(), nodes.end(), middle), before = after - 1;
    const bool below = *before > low, above = *after < high;
    if (!below && !above) return middle;
    if (!below || !above) return below ? *before : *after;
    return 2 * *after - (low + high) < (low + high) - 2 * *before ? *after : *before;
  }
};

// Fig. 4, for halves of any sizes a and b: in step i of m = max(a, b) the u-th of the lower half
// meets the ((i + u) mod m)-th of the upper one, if there is one. All ranks of a half meet
// different ones, and in m steps all meet all. Place of a swap: (how often its set had been cut,
// i).
//
// Fig. 4 has a <= b <= a + 1. From below, m = b: u + i runs through all of the upper half, as in
// line 9. From above, v meets v, v - 1, ..., 0, then (b > a: after a step without partner, m - 1 =
// a) a - 1, ..., v + 1: as in line 16, which counts modulo a and so leaves that step out; v = a,
// whose first step is that one, starts at a - 1 in both.
Ranks hierarchical_sets(std::int32_t rank, std::int32_t ranks,
                        std::span<const std::int32_t> node_of) {
  const Line line(ranks, node_of);
  const auto place = static_cast<std::int32_t>(
      std::find(line.ranks.begin(), line.ranks.end(), rank) - line.ranks.begin());
  Ranks order;
  order.reserve(static_cast<std::size_t>(ranks));
  std::int32_t low = 0, high = ranks;
  while (low + 1 < high) {
    const std::int32_t mid = line.cut(low, high), m = std::max(mid - low, high - mid);
    const bool lower = place < mid;
    for (std::int32_t i = 0; i < m; ++i) {
      const std::int32_t other =
          lower ? mid + (place - low + i) % m : low + (place - mid - i + m) % m;
      if (other < (lower ? high : mid)) order.push_back(line.ranks[other]);
    }
    (lower ? high : low) = mid;
  }
  return order;
}

}  // namespace

const char* name(SwapOrder order) {
  return std::find_if(names.begin(), names.end(),
                      [&](const auto& entry) { return entry.first == order; })
      ->second;
}

std::optional<SwapOrder> swap_order_named(std::string_view text) {
  for (const auto& [order, name] : names)
    if (text == name) return order;
  return std::nullopt;
}

std::vector<std::int32_t> partners(SwapOrder order, std::int32_t rank, std::int32_t ranks,
                                   std::span<const std::int32_t> node_of) {
  switch (order) {
    case SwapOrder::mpich:
      return mpich_order(ranks);
    case SwapOrder::linear_shift:
      return linear_shift(rank, ranks);
    case SwapOrder::hierarchical_sets:
      return hierarchical_sets(rank, ranks, node_of);
  }
  fail(Errc::internal, "there is no order of swaps ", static_cast<int>(order));
}

}  // namespace tonari
