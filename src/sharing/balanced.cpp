#include "sharing/balanced.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "sharing/many_stages.hpp"
#include "sharing/store_and_forward.hpp"
#include "sharing/two_hops.hpp"

namespace tonari {
namespace {

std::vector<StagedEdge> pattern_edges(const CommunicationMatrix& matrix, int stages) {
  std::vector<StagedEdge> edges;
  for (BlockNumber b = 0; b < matrix.blocks(); ++b)
    for (int stage = 0; stage < stages; ++stage) edges.push_back({stage, matrix.origin(b), matrix.target(b)});
  return edges;
}

std::vector<StagedEdge> topology_edges(const CommunicationMatrix& matrix, int stages) {
  std::vector<StagedEdge> edges;
  const MessageSchedule forward = store_and_forward(matrix, std::min(stages, most_dimensions(matrix.ranks())));
  for (const CombinedMessage& m : forward.messages()) edges.push_back({m.stage, m.from, m.to});
  return edges;
}

// The busiest rank's time if a message costs as much as `price` words, words taken from the average rank. An infinite price: messages first.
std::pair<double, double> time_of(double messages, double words, double price) {
  return std::isinf(price) ? std::pair(messages, words) : std::pair(messages * price + words, 0.0);
}

std::pair<double, double> time_of(const CommunicationMatrix& matrix, const MessageSchedule& schedule, double price) {
  const ScheduleMetrics cost = schedule.metrics(matrix);
  return time_of(std::max(cost.most_sent, cost.most_received), cost.words * static_cast<double>(matrix.statistics().words) / matrix.ranks(), price);
}

// With two stages a way is the rank in its middle, and all is much faster.
TwoHops two_hops(const CommunicationMatrix& matrix, const BalanceOptions& options, const TwoStages& start) {
  const double most_words = options.words * static_cast<double>(matrix.statistics().words);
  TwoHops hops(matrix, thin(matrix, start, {options.price, most_words}).via);
  hops.level(most_words);
  hops.shorten(options.price);
  return hops;
}

MessageSchedule over_two_stages(const CommunicationMatrix& matrix, const BalanceOptions& options) {
  const double most_words = options.words * static_cast<double>(matrix.statistics().words);
  TwoStages pattern, topology;
  for (const StagedEdge& e : pattern_edges(matrix, 2)) pattern[e.stage].push_back({e.from, e.to});
  if (options.price == 0) return MessageSchedule(matrix, two_hops(matrix, options, pattern).hops());
  for (const StagedEdge& e : topology_edges(matrix, 2)) topology[e.stage].push_back({e.from, e.to});
  if (topology[0].size() + topology[1].size() >= matrix.blocks()) return MessageSchedule(matrix, two_hops(matrix, options, pattern).hops());
  const TwoHops regular = two_hops(matrix, options, topology);
  const bool allowed = regular.words() <= most_words, full = matrix.statistics().average_sent > matrix.ranks() / 4.0;
  if (allowed && full) return MessageSchedule(matrix, regular.hops());
  const TwoHops found = two_hops(matrix, options, pattern);
  const bool better = allowed && time_of(regular.most(), regular.words() / matrix.ranks(), options.price) < time_of(found.most(), found.words() / matrix.ranks(), options.price);
  return MessageSchedule(matrix, (better ? regular : found).hops());
}

}  // namespace

MessageSchedule balanced(const CommunicationMatrix& matrix, const BalanceOptions& options) {
  if (options.stages < 1 || options.stages > 8) fail(Errc::argument, "balanced with ", options.stages, " stages: give 1 to 8");
  if (!(options.price >= 0)) fail(Errc::argument, "balanced with a price of ", options.price, " words per message: give 0 or more");
  if (!(options.words >= 1)) fail(Errc::argument, "balanced with at most ", options.words, " times the words: give 1 or more");
  if (matrix.ranks() > most_balanced_ranks)
    fail(Errc::argument, "balanced for ", matrix.ranks(), " ranks: give at most ", most_balanced_ranks, ", or take store and forward");
  if (options.stages == 1 || matrix.blocks() == 0) return direct_schedule(matrix);
  if (options.stages == 2) return over_two_stages(matrix, options);
  MessageSchedule found = over_many_stages(matrix, options, pattern_edges(matrix, options.stages));
  if (options.price == 0) return found;
  MessageSchedule regular = over_many_stages(matrix, options, topology_edges(matrix, options.stages));
  if (regular.metrics(matrix).words > options.words) return found;
  return time_of(matrix, regular, options.price) < time_of(matrix, found, options.price) ? regular : found;
}

}  // namespace tonari
