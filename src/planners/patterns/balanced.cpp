// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/balanced.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "planners/patterns/many_stages.hpp"
#include "planners/patterns/split_stages.hpp"
#include "planners/patterns/store_and_forward.hpp"
#include "planners/patterns/two_stages.hpp"
#include "topology/virtual_topology.hpp"

namespace tonari {
namespace {

std::pair<double, double> schedule_time(const CommunicationMatrix& matrix,
                                        const MessageSchedule& schedule, double price) {
  const ScheduleMetrics cost = schedule.metrics(matrix);
  return time_of(std::max(cost.most_sent, cost.most_received),
                 cost.words * static_cast<double>(matrix.statistics().words) / matrix.ranks(),
                 price);
}

int most_messages(const ScheduleMetrics& cost) {
  return std::max(cost.most_sent, cost.most_received);
}

std::vector<StagedEdge> pattern_edges(const CommunicationMatrix& matrix, int stages) {
  std::vector<StagedEdge> edges;
  for (BlockNumber b = 0; b < matrix.blocks(); ++b)
    for (int stage = 0; stage < stages; ++stage)
      edges.push_back({stage, matrix.origin(b), matrix.target(b)});
  return edges;
}

// The edges of two stages in more of them: those of the first in all but the last, and those of the
// second in all but the first.
std::vector<StagedEdge> repeated_edges(const MessageSchedule& two, int stages) {
  std::vector<StagedEdge> edges;
  for (const CombinedMessage& m : two.messages())
    for (int stage = 0; stage + 1 < stages; ++stage)
      edges.push_back({stage + (m.stage > 0), m.from, m.to});
  std::sort(edges.begin(), edges.end(), [](const StagedEdge& a, const StagedEdge& b) {
    return std::tuple(a.from, a.to, a.stage) < std::tuple(b.from, b.to, b.stage);
  });
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

}  // namespace

// Store and forward. Where all write to nearly all, a pattern has no shape to find, and this is
// what remains.
struct BalancedPoints::Mesh {
  Mesh(const CommunicationMatrix& matrix, int stages)
      : schedule(store_and_forward(matrix, std::min(stages, most_dimensions(matrix.ranks())))),
        cost(schedule.metrics(matrix)),
        words(static_cast<double>(matrix.statistics().words) / matrix.ranks()) {}

  // All ranks have as many messages: there is nothing to thin or to level.
  bool full() const { return cost.average_sent >= 0.98 * most_messages(cost); }

  MessageSchedule leveled(const CommunicationMatrix& matrix, const BalanceOptions& options) const {
    if (full()) return schedule;
    return over_many_stages(matrix, options, schedule);
  }
  // Whether it does not become as good as another schedule: leveling takes a quarter off the
  // busiest rank, seldom more, and little off one that has no more than the average.
  bool stays_behind(const ScheduleMetrics& other, double price) const {
    const double least = std::max(0.75 * most_messages(cost), 0.9 * cost.average_sent);
    return std::isinf(price) ? most_messages(other) < least
                             : most_messages(other) * price + other.words * words <
                                   least * price + 0.8 * cost.words * words;
  }

  MessageSchedule schedule;
  ScheduleMetrics cost;
  double words;  // of the average rank, sent directly
};

// What points of one pattern have in common.
struct BalancedPoints::Beginnings {
  explicit Beginnings(const CommunicationMatrix& of) : matrix(of) {}

  // Two stages, at a price at which most of what is worth a detour goes already.
  const MessageSchedule& two_stages(const BalanceOptions& options) {
    const double block =
        static_cast<double>(matrix.statistics().words) / static_cast<double>(matrix.blocks());
    const std::pair key(std::min(options.price, 0.5 * block), options.words);
    const auto [place, missing] = two.try_emplace(key);
    if (missing) place->second.emplace(over_two_stages(matrix, {2, key.first, key.second}));
    return *place->second;
  }

  const Mesh& mesh(int stages) {
    const auto [place, missing] = meshes.try_emplace(stages);
    if (missing) place->second.emplace(matrix, stages);
    return *place->second;
  }

  const CommunicationMatrix& matrix;
  std::map<std::pair<double, double>, std::optional<MessageSchedule>> two;  // by price and words
  std::map<int, std::optional<Mesh>> meshes;                                // by stages
};

namespace {

using Beginnings = BalancedPoints::Beginnings;

// Small patterns begin with all of their edges in all stages. From large ones two stages are
// planned first. Three stages have some 0.6 to 0.7 times the messages of two: nothing, if that will
// be more than enough.
std::optional<MessageSchedule> from_pattern(
    Beginnings& beginnings, const BalanceOptions& options,
    double enough = std::numeric_limits<double>::infinity()) {
  constexpr int most_repeated = 4;  // stages
  const CommunicationMatrix& matrix = beginnings.matrix;
  if (matrix.blocks() <= most_blocks_at_once)
    return over_many_stages(matrix, options, pattern_edges(matrix, options.stages));
  const MessageSchedule& two = beginnings.two_stages(options);
  if (options.stages == 3 && 0.55 * most_messages(two.metrics(matrix)) > enough) return {};
  if (options.stages <= most_repeated)
    return over_many_stages(matrix, options, repeated_edges(two, options.stages));
  return over_many_stages(matrix, options, split_stages(matrix, options, two));
}

MessageSchedule over_stages(Beginnings& beginnings, const BalanceOptions& options) {
  if (options.price == 0) return *from_pattern(beginnings, options);
  const CommunicationMatrix& matrix = beginnings.matrix;
  const BalancedPoints::Mesh& mesh = beginnings.mesh(options.stages);
  const bool dense = matrix.statistics().average_sent > matrix.ranks() / 4.0;
  const bool mesh_first = dense && matrix.blocks() > most_blocks_at_once;
  std::optional<MessageSchedule> other;
  if (!mesh_first) {
    const bool may_give_up = std::isinf(options.price) && mesh.cost.words <= options.words;
    other = may_give_up ? from_pattern(beginnings, options, most_messages(mesh.cost))
                        : from_pattern(beginnings, options);
    if (other && mesh.stays_behind(other->metrics(matrix), options.price)) return *other;
  }
  // it hardly ever gets below its own words
  if (mesh.cost.words > options.words) return other ? *other : *from_pattern(beginnings, options);
  MessageSchedule regular = mesh.leveled(matrix, options);
  return other && schedule_time(matrix, *other, options.price) <=
                      schedule_time(matrix, regular, options.price)
             ? *other
             : regular;
}

}  // namespace

BalancedPoints::BalancedPoints(const CommunicationMatrix& matrix)
    : beginnings_(std::make_unique<Beginnings>(matrix)) {}
BalancedPoints::~BalancedPoints() = default;

MessageSchedule BalancedPoints::point(const BalanceOptions& options) {
  const CommunicationMatrix& matrix = beginnings_->matrix;
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
  return options.stages == 2 ? over_two_stages(matrix, options)
                             : over_stages(*beginnings_, options);
}

MessageSchedule balanced(const CommunicationMatrix& matrix, const BalanceOptions& options) {
  return BalancedPoints(matrix).point(options);
}

}  // namespace tonari
