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

#include <array>
#include <cstddef>
#include <span>

namespace tonari {

class Race {
 public:
  static constexpr std::size_t most_candidates = 4, most_passes = 6;
  // What a rank tells the others at the end of a pass: for each candidate a score, between lower
  // quartile and median of its times so far, then each one's median; 0 for those that are out.
  using Scores = std::array<double, 2 * most_candidates>;

  // At least one candidate, the best guess first.
  explicit Race(std::size_t candidates);

  bool over() const { return over_; }
  std::size_t leader() const { return leader_; }  // the winner once it is over
  bool alive(std::size_t candidate) const { return alive_[candidate]; }
  std::size_t candidates() const { return candidates_; }
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
  static constexpr std::size_t first_starts = 3, later_starts = 4;  // of a candidate in a pass
  static constexpr std::size_t most_samples =
      first_starts - 1 + (most_passes - 1) * (later_starts - 1);

  std::size_t starts() const { return pass_ == 0 ? first_starts : later_starts; }
  void line_up();

  std::size_t candidates_, pass_ = 0, turn_ = 0, leader_ = 0;
  bool over_ = false;
  std::array<bool, most_candidates> alive_{};
  std::array<std::size_t, most_candidates> order_{};  // of this pass
  std::size_t running_ = 0;                           // how many of them
  std::array<std::array<double, most_samples>, most_candidates> samples_{};
  std::array<std::size_t, most_candidates> taken_{};
  Scores sums_{};
};

}  // namespace tonari
