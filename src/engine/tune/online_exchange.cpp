// SPDX-License-Identifier: BSD-3-Clause
#include "engine/tune/online_exchange.hpp"

#include <algorithm>
#include <iomanip>
#include <utility>

#include "base/error.hpp"
#include "engine/tune/wisdom.hpp"
#include "engine/wait/hang_report.hpp"

namespace tonari {

OnlineExchange::OnlineExchange(std::vector<Contender> contenders, std::unique_ptr<TreeSum> sum,
                               Options options)
    : contenders_(std::move(contenders)),
      sum_(std::move(sum)),
      options_(std::move(options)),
      race_(contenders_.size(), options_.crowded ? Race::Sample::turn : Race::Sample::start) {}

// No rank will run them again: the sums came from all, and none gives its numbers before it has
// completed the exchanges before.
void OnlineExchange::drop_losers() {
  for (std::size_t c = 0; c < contenders_.size(); ++c)
    if (!race_.alive(c) || (race_.over() && c != race_.leader())) contenders_[c].exchange.reset();
}

// The last one ends, unless it was spent on the sums. Time between calls counts as much as that in
// calls at most, so where a program computes for long, what varies there does not decide.
void OnlineExchange::begin_period(double begun) {
  const double from = std::exchange(period_from_, begun);
  if (from < 0 || turn_.ends_pass) return;
  const double inside = time_.seconds(), outside = begun - from - inside;
  work_ = std::min(work_, outside);
  race_.ran(inside + std::min(outside - work_, inside));
}

void OnlineExchange::start() {
  if (tuning_ && race_.over()) end_tuning();
  if (!tuning_) return inner().start();
  const double begun = now();
  if (options_.crowded) begin_period(begun);
  turn_ = race_.turn();
  current_ = turn_.candidate;
  moved_all_ = complete_ = false;
  time_.begin();
  time_.enter(begun);
  inner().start();
  time_.leave(now(), false);
  if (turn_.ends_pass) sum_->start(race_.scores());
}

// Of the sums, which no other exchange looks after.
void OnlineExchange::after_idle_look() {
  const Wait::Then then = idle_tests_.idle({.look_after = options_.wait.look_after});
  if (then < Wait::Then::tell) return;
  Awaited awaited;
  awaited.in(call_);
  awaits(awaited);
  tell_of_wait(awaited, sum_->comm(), idle_tests_.waited());
  if (then != Wait::Then::check) return;
  const std::optional<Error> error = error_of([&] {
    for (const Awaited::One& one : awaited.some()) check_alive(options_.node.get(), one.rank);
  });
  if (error && !sum_->advance()) throw *error;
}

void OnlineExchange::awaits(Awaited& awaited) const {
  if (!tuning_ || !moved_all_) return inner().awaits(awaited);
  awaited.note("it compares candidates, and waits for the times of other ranks");
  sum_->awaits(awaited, options_.node.get());
}

void OnlineExchange::belongs_to(const std::string& call) {
  Exchange::belongs_to(call);
  for (const Contender& c : contenders_)
    if (c.exchange) c.exchange->belongs_to(call);
}

void OnlineExchange::end_tuning() {
  current_ = race_.leader();
  tuning_ = false;
  drop_losers();
  sum_.reset();
}

std::unique_ptr<Exchange> OnlineExchange::take_winner() {
  if (tuning_) end_tuning();
  return std::move(contenders_[current_].exchange);
}

// Returns whether anything moved.
bool OnlineExchange::look() {
  bool moved = false;
  if (!moved_all_) {
    moved = moved_all_ = inner().test();
    pause_ = inner().pause();
  }
  if (sum_->under_way() && sum_->advance()) moved = true;
  if (moved) {
    pause_ = Pause::none;
    idle_tests_.reset();
  } else if (moved_all_) {
    pause_ = Pause::yield;  // for messages by MPI, which only tests let proceed
    after_idle_look();
  }
  complete_ = moved_all_ && !sum_->under_way();
  return moved;
}

bool OnlineExchange::test() {
  if (!tuning_) return inner().test();
  if (complete_) return true;
  time_.enter(now());
  look();
  time_.leave(now(), true);
  if (complete_) finish();
  return complete_;
}

void OnlineExchange::wait() {
  if (!tuning_) return inner().wait();
  if (complete_) return;
  time_.enter(now());
  if (turn_.ends_pass) {
    Wait waiting(options_.wait);
    while (!complete_)
      if (look())
        waiting.reset();
      else
        waiting.idle(false);
  } else {
    if (!moved_all_) inner().wait();
    moved_all_ = complete_ = true;
  }
  time_.leave(now(), true);
  finish();
}

// This turn of the race is over.
void OnlineExchange::finish() {
  Tally& tally = tallies_[current_];
  ++tally.starts, tally.seconds += time_.seconds();
  if (!turn_.ends_pass) {
    if (!options_.crowded) race_.ran(time_.seconds());
    return;
  }
  Race::Scores sums;
  std::ranges::copy(sum_->sums().first(sums.size()), sums.begin());
  race_.end_pass(sums);
  const std::size_t winner = race_.leader();
  if (race_.over() && options_.remember)
    options_.remember({winner, mean(winner), race_.steady(winner)});
}

void OnlineExchange::rebind(std::span<const std::ptrdiff_t> shifts) {
  for (const Contender& c : contenders_)
    if (c.exchange) c.exchange->rebind(shifts);
}

std::size_t OnlineExchange::scratch_bytes() const {
  std::size_t bytes = 0;
  for (const Contender& c : contenders_)
    if (c.exchange) bytes += c.exchange->scratch_bytes();
  return bytes;
}

void OnlineExchange::give_up() {
  for (const Contender& c : contenders_)
    if (c.exchange) c.exchange->give_up();
  if (!race_.over()) sum_->give_up();
}

OnlineExchange::Regret OnlineExchange::regret() const {
  const double winner = seconds();
  Regret regret;
  for (const Tally& tally : tallies_) {
    regret.starts += tally.starts;
    regret.seconds += tally.seconds - static_cast<double>(tally.starts) * winner;
  }
  regret.exchanges = winner > 0 ? regret.seconds / winner : 0;
  return regret;
}

std::string OnlineExchange::report() const {
  std::string lines = race_.over() ? text("tuned online in ", race_.pass(), " passes:\n")
                                   : text("tuning online, pass ", race_.pass() + 1, " of at most ",
                                          Race::most_passes, ":\n");
  for (std::size_t c = 0; c < contenders_.size(); ++c) {
    const bool timed = race_.sum(c) > 0;
    lines += text("  ", std::setprecision(3), timed ? text(mean(c) * 1e6, " us  ") : "",
                  contenders_[c].label, race_.alive(c) ? "" : " (dropped out)", "\n");
  }
  if (!race_.over()) return lines;
  const Regret lost = regret();
  return lines + text("tuning took ", lost.starts, " starts, and ", std::setprecision(3),
                      lost.seconds * 1e6,
                      " us more than the winner would have taken: ", lost.exchanges,
                      " exchanges of it\n", race_.steady(race_.leader()) ? "" : unsteady_times);
}

}  // namespace tonari
