// SPDX-License-Identifier: BSD-3-Clause
// Edges of two stages as sets of ranks, and ways over them: one edge of each stage, or one alone.
//
//   stage 0    a ───▶ x
//   stage 1           x ───▶ t
//
// Staying is a way, too: x = t is the edge of its own in stage 0, x = a the one in stage 1.
#pragma once

#include <limits>
#include <span>

#include "planners/patterns/rank_sets.hpp"

namespace tonari {

class StageSets {
 public:
  explicit StageSets(int ranks) : sets_(4, RankSets(ranks)) {
    for (int rank = 0; rank < ranks; ++rank) {
      sets_[0].insert(rank, rank);
      sets_[3].insert(rank, rank);
    }
  }

  // The ranks to which each rank may write in a stage, or (in) that may write to it.
  const RankSets& of(bool second, bool in) const { return sets_[2 * second + in]; }

  void open(bool second, int from, int to) {
    sets_[2 * second].insert(from, to);
    sets_[2 * second + 1].insert(to, from);
  }
  void close(bool second, int from, int to) {
    sets_[2 * second].erase(from, to);
    sets_[2 * second + 1].erase(to, from);
  }
  bool is_open(bool second, int from, int to) const { return of(second, false).contains(from, to); }

  // x, of several the one with the fewest words to send; -1 if there is none. Where both ends may
  // choose the stage of a single edge they take turns, so that both stages are in use.
  std::int32_t find(int a, int t, std::span<const std::uint64_t> words_sent) const {
    const bool first = is_open(false, a, t), second = is_open(true, a, t);
    if (first || second) return first && (!second || (a + t) % 2 == 0) ? t : a;
    std::int32_t best = -1;
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    of(false, false).for_each_common(a, of(true, true), t, [&](int via) {
      const bool less = words_sent[via] < least;  // no branch: it would be taken at random
      best = less ? via : best;
      least = less ? words_sent[via] : least;
    });
    return best;
  }

 private:
  std::vector<RankSets> sets_;  // by stage and direction
};

}  // namespace tonari
