// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/within_words.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "planners/patterns/balanced.hpp"
#include "planners/patterns/circulant.hpp"
#include "planners/patterns/many_stages.hpp"
#include "planners/patterns/message_sharing.hpp"
#include "planners/patterns/store_and_forward.hpp"
#include "topology/virtual_topology.hpp"

namespace tonari {
namespace {

constexpr double any_price = std::numeric_limits<double>::infinity();

// The best so far of what keeps to a limit.
class Best {
 public:
  Best(const CommunicationMatrix& matrix, double words)
      : matrix_(matrix),
        words_(words),
        schedule_(direct_schedule(matrix)),
        cost_(cost(schedule_)) {}

  void offer(MessageSchedule schedule) {
    const Cost offered = cost(schedule);
    if (std::get<2>(offered) > words_ || offered >= cost_) return;
    schedule_ = std::move(schedule);
    cost_ = offered;
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
  MessageSchedule schedule_;
  Cost cost_;
};

void offer_papers_schemes(const CommunicationMatrix& matrix, Best& best) {
  for (int n = 2; n <= most_dimensions(matrix.ranks()); ++n)
    best.offer(store_and_forward(matrix, n));
  for (int phases : {1, 2}) best.offer(combine(matrix, share_messages(matrix, phases)));
}

// From few words per message to many, in few stages and in many; of large patterns those that suit
// the limit.
void offer_balanced(const CommunicationMatrix& matrix, double words, double word, Best& best) {
  constexpr std::size_t few_blocks = 1 << 13,  // up to here, all take milliseconds
      most_blocks = 1 << 16;                   // above, many stages take many seconds
  constexpr double many_words = 1e30;  // a price at which detours of few messages still come first
  struct Point {
    int stages;
    double price, least, most;  // limits of words for which it is tried
  };
  for (const Point& point : {Point{2, 2, 1, any_price},
                             {3, 5, 1, 1.35},
                             {4, 5, 1, 1.7},
                             {6, 20, any_price, any_price},
                             {8, 5, 1.1, any_price},
                             {8, many_words, 1.2, any_price},
                             {8, any_price, any_price, any_price}}) {
    const bool suits = words >= point.least && words < point.most;
    if (matrix.blocks() <= few_blocks ||
        (suits && (point.stages == 2 || matrix.blocks() <= most_blocks)))
      best.offer(balanced(matrix, {point.stages, point.price * word, words}));
  }
}

// One generator less, as long as that keeps to the limit.
void offer_circulants(const CommunicationMatrix& matrix, Best& best) {
  constexpr int most_stages = 8, most_failures = 2;
  for (int failures = 0, messages = best.messages(); failures < most_failures && messages > 1;) {
    --messages;
    if (const auto found = circulant(matrix, messages, most_stages))
      best.offer_better(*found, {any_price});
    failures = best.messages() <= messages ? 0 : failures + 1;
    messages = std::min(messages, best.messages());
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
  best.offer_better(MessageSchedule(best.schedule()), {5 * word, any_price});
  offer_balanced(matrix, words, word, best);
  if (matrix.statistics().average_sent > matrix.ranks() / 8.0) offer_circulants(matrix, best);
  return best.schedule();
}

MessageSchedule front_point(const CommunicationMatrix& matrix, BalanceOptions options,
                            double word) {
  if (options.stages == any_stages) return within_words(matrix, options.words, word);
  if (options.price > 0) options.price *= word;  // 0 times infinity is no price
  return balanced(matrix, options);
}

}  // namespace tonari
