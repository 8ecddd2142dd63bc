// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/within_words.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "planners/patterns/balanced.hpp"
#include "planners/patterns/circulant.hpp"
#include "planners/patterns/many_stages.hpp"
#include "planners/patterns/message_sharing.hpp"
#include "planners/patterns/rank_sets.hpp"
#include "planners/patterns/store_and_forward.hpp"
#include "topology/virtual_topology.hpp"

namespace tonari {
namespace {

constexpr double any_price = std::numeric_limits<double>::infinity();

// Messages of the busiest sender, at least: pairs of ranks that follow each other on some route.
int least_messages(const CommunicationMatrix& matrix, const Routes& routes) {
  RankSets pairs(matrix.ranks());
  std::vector<int> sent(static_cast<std::size_t>(matrix.ranks()), 0);
  for (BlockNumber b = 0; b < routes.size(); ++b)
    for (std::size_t k = 1; k < routes[b].size(); ++k) {
      const int from = routes[b][k - 1], to = routes[b][k];
      if (pairs.contains(from, to)) continue;
      pairs.insert(from, to);
      ++sent[static_cast<std::size_t>(from)];
    }
  return *std::ranges::max_element(sent);
}

// The best so far of what keeps to a limit.
class Best {
 public:
  Best(const CommunicationMatrix& matrix, double words)
      : matrix_(matrix),
        words_(words),
        direct_words_(std::max<std::uint64_t>(matrix.statistics().words, 1)),
        schedule_(direct_schedule(matrix)),
        cost_(cost(schedule_)) {}

  void offer(MessageSchedule schedule) {
    const Cost offered = cost(schedule);
    if (std::get<2>(offered) > words_ || offered >= cost_) return;
    schedule_ = std::move(schedule);
    cost_ = offered;
  }
  // Messages are made of routes only if these keep to the limit.
  void offer(const Routes& routes) {
    std::uint64_t words = 0;
    for (BlockNumber b = 0; b < matrix_.blocks(); ++b)
      words += (routes[b].size() - 1) * matrix_.words(b);
    // divided as in metrics(): a scheme's own words are no more than its words
    if (static_cast<double>(words) / static_cast<double>(direct_words_) > words_) return;
    // detours, where they are allowed, leave the busiest fewer
    if (!routes.detours() && least_messages(matrix_, routes) >= messages()) return;
    offer(combine(matrix_, routes));
  }
  // As it is, and thinned and leveled again.
  void offer_better(const MessageSchedule& schedule, std::initializer_list<double> prices) {
    for (double price : prices)
      offer(over_many_stages(matrix_, {schedule.stages(), price, words_}, schedule));
    offer(schedule);
  }

  const MessageSchedule& schedule() const { return schedule_; }
  int messages() const { return std::get<0>(cost_); }

 private:
  using Cost = std::tuple<int, int, double>;

  Cost cost(const MessageSchedule& schedule) const {
    const ScheduleMetrics metrics = schedule.metrics(matrix_);
    return {metrics.most_sent, metrics.most_received, metrics.words};
  }

  const CommunicationMatrix& matrix_;
  double words_;
  std::uint64_t direct_words_;
  MessageSchedule schedule_;
  Cost cost_;
};

// Those with the fewest messages first: most of the others need not be made.
void offer_papers_schemes(const CommunicationMatrix& matrix, Best& best) {
  for (int n = most_dimensions(matrix.ranks()); n >= 2; --n)
    best.offer(forward_routes(matrix, virtual_topology(matrix.ranks(), n)));
  const SharedSenders shared = share_common_messages(matrix);
  best.offer(sharing_routes(matrix, shared));
  best.offer(second_phase_routes(matrix, shared));
}

constexpr std::size_t few_blocks = 1 << 13;   // up to here, all take milliseconds
constexpr std::size_t most_blocks = 1 << 16;  // above, many stages take many seconds
constexpr int many_stages = 8;
constexpr double many_words = 1e30;  // a price at which detours of few messages still come first

// Of small patterns: from few words per message to many, in few stages and in many.
void offer_points(BalancedPoints& points, double words, double word, Best& best) {
  struct Point {
    int stages;
    double price;
  };
  for (const Point& point : {Point{2, 2},
                             {3, 5},
                             {4, 5},
                             {6, 20},
                             {many_stages, 5},
                             {many_stages, many_words},
                             {many_stages, any_price}})
    best.offer(points.point({point.stages, point.price * word, words}));
}

// Of large patterns: in four stages if few words are allowed, then in many at a low price. As long
// as that leaves words, it goes on from there at higher ones. regular: circulants were tried.
void offer_prices(const CommunicationMatrix& matrix, BalancedPoints& points, double words,
                  double word, bool regular, Best& best) {
  constexpr double few_words = 1.7, least_words = 1.1, low_price = 5, spent = 0.98, mostly = 0.8;
  const auto uses = [&](const MessageSchedule& schedule, double part) {
    return schedule.metrics(matrix).words >= part * words;
  };
  // a rank keeps a message for each stage, mostly, and another one
  const auto may_help = [&](int stages) { return !regular || best.messages() > stages + 1; };
  if (constexpr int few_stages = 4; words < few_words && may_help(few_stages)) {
    const MessageSchedule few = points.point({few_stages, low_price * word, words});
    best.offer(few);
    if (uses(few, spent)) return;
  }
  if (words < least_words || !may_help(many_stages)) return;
  MessageSchedule many = points.point({many_stages, low_price * word, words});
  best.offer(many);
  for (double price : {many_words, any_price}) {
    // words that are left take off a quarter of the messages, seldom more
    if (uses(many, spent) || 0.75 * many.metrics(matrix).most_sent >= best.messages()) return;
    if (price == many_words && !uses(many, mostly)) continue;  // to the highest price at once
    many = over_many_stages(matrix, {many_stages, price, words}, many);
    best.offer(many);
  }
}

void offer_balanced(const CommunicationMatrix& matrix, double words, double word, bool regular,
                    Best& best) {
  BalancedPoints points(matrix);
  if (matrix.blocks() <= few_blocks)
    offer_points(points, words, word, best);
  else if (matrix.blocks() <= most_blocks)
    offer_prices(matrix, points, words, word, regular, best);
  else
    best.offer(points.point({2, 2 * word, words}));
}

// Ranks of a few kinds, if their number can be divided. One generator less, as long as that keeps
// to the limit. It begins with as many as balanced does not get below; where that is too large for
// balanced, with one less than there are. The search takes as long on any number of ranks above a
// thousand.
void offer_circulants(const CommunicationMatrix& matrix, double words, Best& best) {
  constexpr int stages = 9, fewest = 4, few = 12, many = 10;  // messages
  constexpr int counts[] = {4, 3, 5, 2, 7, 6, 8, 1}, most_steps = 30'000, many_ranks = 1024;
  const auto kinds =
      std::ranges::find_if(counts, [&](int count) { return matrix.ranks() % count == 0; });
  for (int messages = best.messages() - 1; messages >= fewest; messages = best.messages() - 1) {
    if (matrix.blocks() <= most_blocks) messages = std::min(messages, many);
    const int steps = most_steps / std::max({1, matrix.ranks() / many_ranks, messages / few});
    const auto found = circulant(matrix, messages, {stages, *kinds, steps, words});
    if (found) best.offer(*found);
    if (best.messages() > messages) return;
  }
}

}  // namespace

MessageSchedule within_words(const CommunicationMatrix& matrix, double words, double word) {
  if (!(words >= 1))
    fail(Errc::argument, "within_words with at most ", words, " times the words: give 1 or more");
  if (matrix.ranks() > most_balanced_ranks)
    fail(Errc::argument, "within_words for ", matrix.ranks(), " ranks: give at most ",
         most_balanced_ranks);
  Best best(matrix, words);
  if (matrix.blocks() == 0) return best.schedule();
  offer_papers_schemes(matrix, best);
  if (matrix.blocks() <= few_blocks)
    best.offer_better(MessageSchedule(best.schedule()), {5 * word, any_price});
  const bool regular = matrix.statistics().average_sent > 2.0 * best.messages();
  if (regular) offer_circulants(matrix, words, best);
  offer_balanced(matrix, words, word, regular, best);
  return best.schedule();
}

MessageSchedule front_point(const CommunicationMatrix& matrix, BalanceOptions options,
                            double word) {
  if (options.stages == any_stages) return within_words(matrix, options.words, word);
  if (options.price > 0) options.price *= word;  // 0 times infinity is no price
  return balanced(matrix, options);
}

}  // namespace tonari
