// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/balanced.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "planners/patterns/many_stages.hpp"
#include "planners/patterns/store_and_forward.hpp"
#include "planners/patterns/two_hops.hpp"
#include "topology/virtual_topology.hpp"

namespace tonari {
namespace {

std::vector<StagedEdge> pattern_edges(const CommunicationMatrix& matrix, int stages) {
  std::vector<StagedEdge> edges;
  for (BlockNumber b = 0; b < matrix.blocks(); ++b)
    for (int stage = 0; stage < stages; ++stage)
      edges.push_back({stage, matrix.origin(b), matrix.target(b)});
  return edges;
}

TwoStages twice(const CommunicationMatrix& matrix) {
  TwoStages edges;
  for (BlockNumber b = 0; b < matrix.blocks(); ++b)
    edges[0].push_back({matrix.origin(b), matrix.target(b)});
  edges[1] = edges[0];
  return edges;
}

std::vector<StagedEdge> topology_edges(const CommunicationMatrix& matrix, int stages) {
  std::vector<StagedEdge> edges;
  const MessageSchedule forward =
      store_and_forward(matrix, std::min(stages, most_dimensions(matrix.ranks())));
  for (const CombinedMessage& m : forward.messages()) edges.push_back({m.stage, m.from, m.to});
  return edges;
}

// The busiest rank's time if a message costs as much as `price` words, words taken from the average
// rank. An infinite price: messages first.
std::pair<double, double> time_of(double messages, double words, double price) {
  return std::isinf(price) ? std::pair(messages, words) : std::pair(messages * price + words, 0.0);
}

std::pair<double, double> time_of(const CommunicationMatrix& matrix,
                                  const MessageSchedule& schedule, double price) {
  const ScheduleMetrics cost = schedule.metrics(matrix);
  return time_of(std::max(cost.most_sent, cost.most_received),
                 cost.words * static_cast<double>(matrix.statistics().words) / matrix.ranks(),
                 price);
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

// With two stages a way is the rank in its middle, and all is much faster.
MessageSchedule over_two_stages(const CommunicationMatrix& matrix, const BalanceOptions& options) {
  const double most_words = options.words * static_cast<double>(matrix.statistics().words);
  std::optional<TwoHops> regular;
  if (options.price > 0) {
    regular.emplace(matrix, topology_vias(matrix));
    if (regular->words() > most_words || regular->messages() >= matrix.blocks()) regular.reset();
  }
  if (regular) {
    regular->level(most_words);
    regular->shorten(options.price);
    if (matrix.statistics().average_sent > matrix.ranks() / 4.0)
      return MessageSchedule(matrix, regular->hops());
  }
  ThinningLimits limits{options.price, most_words};
  // leveling seldom gets it below the half
  if (regular && std::isinf(options.price)) limits.most = 2 * regular->most();
  const Thinned thinned = thin(matrix, twice(matrix), limits);
  if (thinned.via.empty()) return MessageSchedule(matrix, regular->hops());
  TwoHops found(matrix, thinned.via);
  found.level(most_words);
  found.shorten(options.price);
  const auto time = [&](const TwoHops& hops) {
    return time_of(hops.most(), hops.words() / matrix.ranks(), options.price);
  };
  return MessageSchedule(matrix,
                         (regular && time(*regular) < time(found) ? *regular : found).hops());
}

}  // namespace

MessageSchedule balanced(const CommunicationMatrix& matrix, const BalanceOptions& options) {
  if (options.stages < 1 || options.stages > 8)
    fail(Errc::argument, "balanced with ", options.stages, " stages: give 1 to 8");
  if (!(options.price >= 0))
    fail(Errc::argument, "balanced with a price of ", options.price,
         " words per message: give 0 or more");
  if (!(options.words >= 1))
    fail(Errc::argument, "balanced with at most ", options.words,
         " times the words: give 1 or more");
  if (matrix.ranks() > most_balanced_ranks)
    fail(Errc::argument, "balanced for ", matrix.ranks(), " ranks: give at most ",
         most_balanced_ranks, ", or take store and forward");
  if (options.stages == 1 || matrix.blocks() == 0) return direct_schedule(matrix);
  if (options.stages == 2) return over_two_stages(matrix, options);
  MessageSchedule found = over_many_stages(matrix, options, pattern_edges(matrix, options.stages));
  if (options.price == 0) return found;
  MessageSchedule regular =
      over_many_stages(matrix, options, topology_edges(matrix, options.stages));
  if (regular.metrics(matrix).words > options.words) return found;
  return time_of(matrix, regular, options.price) < time_of(matrix, found, options.price) ? regular
                                                                                         : found;
}

}  // namespace tonari
