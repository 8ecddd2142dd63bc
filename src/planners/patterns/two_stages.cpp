// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/two_stages.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "planners/patterns/two_hops.hpp"
#include "topology/virtual_topology.hpp"

namespace tonari {
namespace {

TwoStages twice(const CommunicationMatrix& matrix) {
  TwoStages edges;
  for (BlockNumber b = 0; b < matrix.blocks(); ++b)
    edges[0].push_back({matrix.origin(b), matrix.target(b)});
  edges[1] = edges[0];
  return edges;
}

// Where store and forward in two dimensions turns, by block. Its ways are the only ones over its
// edges but for a few where the mesh is not full: nothing to thin.
std::vector<std::int32_t> topology_vias(const CommunicationMatrix& matrix) {
  const VirtualTopology topology(
      matrix.ranks(),
      virtual_topology(matrix.ranks(), std::min(2, most_dimensions(matrix.ranks()))));
  std::vector<std::int32_t> via(matrix.blocks());
  for (BlockNumber b = 0; b < matrix.blocks(); ++b)
    via[b] = topology.next(matrix.origin(b), matrix.target(b), 0);
  return via;
}

}  // namespace

std::pair<double, double> time_of(double messages, double words, double price) {
  return std::isinf(price) ? std::pair(messages, words) : std::pair(messages * price + words, 0.0);
}

MessageSchedule over_two_stages(const CommunicationMatrix& matrix, const BalanceOptions& options) {
  const double most_words = options.words * static_cast<double>(matrix.statistics().words);
  std::optional<TwoHops> regular;
  if (options.price > 0) {
    regular.emplace(matrix, topology_vias(matrix));
    if (regular->words() > most_words || regular->messages() >= matrix.blocks()) regular.reset();
  }
  const auto improve = [&](TwoHops& hops) {
    hops.level(most_words);
    hops.shorten(options.price);
  };
  const bool dense = matrix.statistics().average_sent > matrix.ranks() / 4.0,
             priced = !std::isinf(options.price);
  if (regular && (dense || !priced)) improve(*regular);
  if (regular && dense) return MessageSchedule(matrix, regular->hops());
  ThinningLimits limits{options.price, most_words};
  // leveling seldom gets it below the half
  if (regular && !priced) limits.most = 2 * regular->most();
  const Thinned thinned = thin(matrix, twice(matrix), limits);
  if (thinned.via.empty()) return MessageSchedule(matrix, regular->hops());
  TwoHops found(matrix, thinned.via);
  improve(found);
  const auto time = [&](const TwoHops& hops) {
    return time_of(hops.most(), hops.words() / matrix.ranks(), options.price);
  };
  if (regular && priced) {
    // that takes off a quarter at most
    if (0.75 * time(*regular).first > time(found).first)
      regular.reset();
    else
      improve(*regular);
  }
  return MessageSchedule(matrix,
                         (regular && time(*regular) < time(found) ? *regular : found).hops());
}

}  // namespace tonari
