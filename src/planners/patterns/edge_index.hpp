// SPDX-License-Identifier: BSD-3-Clause
// A number for every edge of two stages: its place in a square where there are few ranks, else in
// the sorted list of all, so that memory is that of the edges.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tonari {

struct RankPair {
  std::int32_t from, to;
  friend auto operator<=>(const RankPair&, const RankPair&) = default;
};

using TwoStages = std::array<std::vector<RankPair>, 2>;  // edges, each once

class EdgeIndex {
 public:
  EdgeIndex(int ranks, const TwoStages& edges)
      : ranks_(static_cast<std::size_t>(ranks)), square_(ranks <= most_square) {
    if (square_) return;
    for (std::size_t stage : {0u, 1u}) {
      const std::size_t begin = to_.size();
      row_begin_[stage].assign(ranks_ + 1, begin);
      for (const RankPair& e : edges[stage])
        ++row_begin_[stage][static_cast<std::size_t>(e.from) + 1];
      for (std::size_t rank = 0; rank < ranks_; ++rank)
        row_begin_[stage][rank + 1] += row_begin_[stage][rank] - begin;
      to_.resize(begin + edges[stage].size());
      std::vector<std::size_t> next(row_begin_[stage]);
      for (const RankPair& e : edges[stage]) to_[next[static_cast<std::size_t>(e.from)]++] = e.to;
      for (std::size_t rank = 0; rank < ranks_; ++rank)
        std::sort(row(stage, rank), row(stage, rank + 1));
    }
  }

  std::size_t size() const { return square_ ? 2 * ranks_ * ranks_ : to_.size(); }

  // The edge must exist.
  std::size_t operator()(bool second, int from, int to) const {
    if (square_)
      return ((second ? ranks_ : 0) + static_cast<std::size_t>(from)) * ranks_ +
             static_cast<std::size_t>(to);
    const auto rank = static_cast<std::size_t>(from);
    return static_cast<std::size_t>(std::lower_bound(row(second, rank), row(second, rank + 1), to) -
                                    to_.begin());
  }

 private:
  static constexpr int most_square = 1024;
  std::vector<std::int32_t>::const_iterator row(std::size_t stage, std::size_t rank) const {
    return to_.begin() + static_cast<std::ptrdiff_t>(row_begin_[stage][rank]);
  }
  std::vector<std::int32_t>::iterator row(std::size_t stage, std::size_t rank) {
    return to_.begin() + static_cast<std::ptrdiff_t>(row_begin_[stage][rank]);
  }

  std::size_t ranks_;
  bool square_;
  std::array<std::vector<std::size_t>, 2> row_begin_;  // by stage
  std::vector<std::int32_t> to_;
};

}  // namespace tonari
