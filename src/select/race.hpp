// SPDX-License-Identifier: BSD-3-Clause
// A race of candidates on a program's own exchanges (ADCL: Gabriel and Huang 2007): they run in
// turns, the slow ones drop out, and the one that is left has won. Pure: ranks that give the same
// sums take the same turns, so nothing else need be agreed on.
//
//   start  0 1 2  3 4 5  6 7 8  9     10 11 12 13  14 15 16 17  18     A pass gives each candidate
//   runs   a a a  b b b  c c c  a      b  b  b  b   a  a  a  a   b     a few starts in a row; the
//          -      -      -      sums   -            -            sums  first one (-) only warms up.
//
// Here c is too slow for a second pass.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace tonari {

class Race {
 public:
  static constexpr std::size_t most_candidates = 8, most_passes = 6;
  // What a rank tells the others at the end of a pass: for each candidate a score, between lower
  // quartile and median of its times so far, then each one's median; 0 for those that are out.
  using Scores = std::array<double, 2 * most_candidates>;

  enum class Sample : std::uint8_t {
    start,  // the time of one start
    // The mean of a turn's starts, and turns are longer: where ranks share cores, one start is
    // short because another was long.
    turn
  };

  // At least one candidate, the best guess first.
  explicit Race(std::size_t candidates, Sample sample = Sample::start);

  bool over() const { return over_; }
  std::size_t leader() const { return leader_; }  // the winner once it is over
  bool alive(std::size_t candidate) const { return alive_[candidate]; }
  std::size_t pass() const { return pass_; }

  // The next start; none when it is over.
  struct Turn {
    std::size_t candidate = 0;
    bool counts = false;  // its time does
    bool ends_pass = false;
  };
  Turn turn() const;
  void ran(double seconds);  // the turn that counts or does not; not the one that ends a pass

  Scores scores() const;              // of this rank
  void end_pass(const Scores& sums);  // of all ranks, which all have the same ones
  // The sums say that the candidate's times vary little. Of the last pass that it took part in.
  bool steady(std::size_t candidate) const;
  double sum(std::size_t candidate) const { return sums_[candidate]; }

 private:
  // Of a candidate in a pass; who drops out after that pass is slower than `limit` times the best.
  // The first passes have few times, of which a time slice of another process may have spoiled all.
  struct Pass {
    std::size_t starts;
    double limit;
  };
  static constexpr std::array<Pass, most_passes> by_starts{
      {{3, 4}, {4, 2}, {4, 1.5}, {4, 1.3}, {4, 1.2}, {4, 1.1}}};
  static constexpr std::array<Pass, most_passes> by_turns{
      {{4, std::numeric_limits<double>::max()}, {4, 4}, {8, 2}, {8, 1.5}, {8, 1.3}, {8, 1.1}}};
  static constexpr std::size_t most_samples = 17;

  const Pass& pass_now() const { return passes_[std::min(pass_, most_passes - 1)]; }
  std::size_t starts() const { return pass_now().starts; }
  void line_up();
  void add_sample(std::size_t candidate, double seconds);

  std::size_t candidates_, pass_ = 0, turn_ = 0, leader_ = 0;
  Sample sample_;
  const std::array<Pass, most_passes>& passes_;
  double of_turn_ = 0;  // seconds so far
  bool over_ = false;
  std::array<bool, most_candidates> alive_{};
  std::array<std::size_t, most_candidates> order_{};  // of this pass
  std::size_t running_ = 0;                           // how many of them
  std::array<std::array<double, most_samples>, most_candidates> samples_{};
  std::array<std::size_t, most_candidates> taken_{};
  Scores sums_{};
};

}  // namespace tonari
