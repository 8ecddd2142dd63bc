// SPDX-License-Identifier: BSD-3-Clause
#include "select/race.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tonari {
namespace {

constexpr double unsteady = 4. / 3;  // times the score: a median above that is twice the quartile

double order_statistic(std::span<const double> sorted, std::size_t parts) {
  return sorted.empty() ? 0 : sorted[(sorted.size() - 1) / parts];
}

}  // namespace

Race::Race(std::size_t candidates, Sample sample)
    : candidates_(candidates),
      sample_(sample),
      passes_(sample == Sample::start ? by_starts : by_turns) {
  if (candidates == 0 || candidates > most_candidates)
    fail(Errc::internal, "a race of ", candidates, " candidates");
  std::fill_n(alive_.begin(), candidates, true);
  over_ = candidates == 1;
  line_up();
}

// Each pass begins with another candidate, so that none always runs after the same one.
void Race::line_up() {
  running_ = 0, turn_ = 0;
  for (std::size_t k = 0; k < candidates_; ++k)
    if (const std::size_t c = (k + pass_) % candidates_; alive_[c]) order_[running_++] = c;
}

Race::Turn Race::turn() const {
  const std::size_t place = turn_ / starts();
  if (place == running_) return {leader_, false, true};
  return {order_[place], turn_ % starts() > 0, false};
}

void Race::ran(double seconds) {
  const Turn now = turn();
  ++turn_;
  if (!now.counts) return;
  if (sample_ == Sample::start) return add_sample(now.candidate, seconds);
  of_turn_ += seconds;
  if (turn_ % starts() != 0) return;
  add_sample(now.candidate, of_turn_ / static_cast<double>(starts() - 1));
  of_turn_ = 0;
}

void Race::add_sample(std::size_t candidate, double seconds) {
  samples_[candidate][taken_[candidate]++] = seconds;
}

Race::Scores Race::scores() const {
  Scores scores{};
  for (std::size_t c = 0; c < candidates_; ++c) {
    if (!alive_[c]) continue;
    auto times = samples_[c];
    const std::span sorted = std::span(times).first(taken_[c]);
    std::ranges::sort(sorted);
    const double quartile = order_statistic(sorted, 4), median = order_statistic(sorted, 2);
    scores[c] = (quartile + median) / 2;  // as contests at init have it (engine/tune/contest.cpp)
    scores[most_candidates + c] = median;
  }
  return scores;
}

void Race::end_pass(const Scores& sums) {
  for (std::size_t c = 0; c < candidates_; ++c) {
    if (!alive_[c]) continue;
    sums_[c] = sums[c], sums_[most_candidates + c] = sums[most_candidates + c];
  }
  for (std::size_t c = 0; c < candidates_; ++c)
    if (alive_[c] && sums_[c] < sums_[leader_]) leader_ = c;
  std::size_t left = 0;
  for (std::size_t c = 0; c < candidates_; ++c) {
    alive_[c] = alive_[c] && sums_[c] <= pass_now().limit * sums_[leader_];
    left += alive_[c];
  }
  ++pass_;
  over_ = left == 1 || pass_ == most_passes;
  line_up();
}

bool Race::steady(std::size_t candidate) const {
  return sums_[most_candidates + candidate] < unsteady * sums_[candidate];
}

}  // namespace tonari
