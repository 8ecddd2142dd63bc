// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/thinning.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <queue>

#include "base/error.hpp"
#include "planners/patterns/stage_sets.hpp"

namespace tonari {
namespace {

class Thinner {
 public:
  Thinner(const CommunicationMatrix& matrix, const TwoStages& edges, const ThinningLimits& limits)
      : matrix_(matrix),
        limits_(limits),
        limited_(std::isfinite(limits.price) || std::isfinite(limits.words)),
        ranks_(matrix.ranks()),
        open_(ranks_),
        untried_(4, RankSets(ranks_)),
        needs_(2, RankSets(ranks_)),
        number_(ranks_, edges),
        on_(number_.size()),
        degree_(2 * static_cast<std::size_t>(ranks_), 0),
        kept_(degree_),
        words_sent_(static_cast<std::size_t>(ranks_), 0) {
    for (bool second : {false, true})
      for (const RankPair& e : edges[second]) {
        open_.open(second, e.from, e.to);
        untried(second, false).insert(e.from, e.to);
        untried(second, true).insert(e.to, e.from);
        ++degree_[e.from];
        ++degree_[ranks_ + e.to];
      }
    list_blocks();
    for (int end = 0; end < 2 * ranks_; ++end)
      weights_.push_back(
          std::sqrt(static_cast<double>(via_[end < ranks_ ? 0 : 1].of(end % ranks_).size())));
    const double words = static_cast<double>(matrix.statistics().words);
    word_weight_ = words > 0 ? 0.1 * ranks_ * ranks_ / words : 0;
  }

  Thinned run() {
    std::priority_queue<std::pair<double, int>> queue;
    for (int end = 0; end < 2 * ranks_; ++end) queue.emplace(urgency(end), end);
    while (!queue.empty()) {
      const auto [value, end] = queue.top();
      queue.pop();
      if (value == urgency(end) && !turn(end)) continue;
      queue.emplace(urgency(end), end);
      if (most_kept_ > limits_.most) return {{}, steps_};
    }
    return {std::move(via_[0].ranks), steps_};
  }

 private:
  // Where the blocks of a row or a column go, and their other ends.
  struct Vias {
    std::vector<std::size_t> begin;
    std::vector<std::int32_t> ranks, ends;
    std::span<const std::int32_t> of(int row) const {
      return std::span(ranks).subspan(begin[row], begin[row + 1] - begin[row]);
    }
  };
  struct On {
    float words = 0;
    std::uint32_t blocks = 0;
  };
  struct Detour {
    BlockNumber block;
    std::int32_t end, via;
  };

  RankSets& untried(bool second, bool in) { return untried_[2 * second + in]; }
  double urgency(int end) const { return degree_[end] * weights_[end]; }

  void list_blocks() {
    for (Vias& vias : via_) {
      vias.begin.assign(static_cast<std::size_t>(ranks_) + 1, 0);
      vias.ranks.resize(matrix_.blocks());
      vias.ends.resize(matrix_.blocks());
    }
    place_.resize(matrix_.blocks());
    std::size_t place = 0;
    for (int rank = 0; rank < ranks_; ++rank) {
      via_[0].begin[rank + 1] =
          via_[0].begin[rank] + static_cast<std::size_t>(matrix_.sent_by(rank));
      for (BlockNumber b : matrix_.column(rank)) {
        via_[1].ends[place] = matrix_.origin(b);
        place_[b] = place++;
      }
      via_[1].begin[rank + 1] = place;
    }
    for (BlockNumber b = 0; b < matrix_.blocks(); ++b) {
      const std::int32_t a = matrix_.origin(b), t = matrix_.target(b);
      needs_[0].insert(a, t);
      needs_[1].insert(t, a);
      via_[0].ends[b] = t;
      const std::int32_t via = open_.find(a, t, words_sent_);
      if (via < 0) fail(Errc::internal, "thinning starts without a way from ", a, " to ", t);
      enter(b, a, t, via);
    }
  }

  void enter(BlockNumber b, int a, int t, std::int32_t via) {
    via_[0].ranks[b] = via_[1].ranks[place_[b]] = via;
    const std::uint64_t words = matrix_.words(b);
    if (via != a) carry(false, a, via, words, 1);
    if (via != t) carry(true, via, t, words, 1);
  }
  void leave(BlockNumber b, int a, int t) {
    const std::int32_t via = via_[0].ranks[b];
    const std::uint64_t words = std::uint64_t{0} - matrix_.words(b);
    if (via != a) carry(false, a, via, words, ~0u);
    if (via != t) carry(true, via, t, words, ~0u);
  }
  // Modulo 2^n: less is more.
  void carry(bool second, int from, int to, std::uint64_t words, std::uint32_t blocks) {
    On& on = on_[number_(second, from, to)];
    on.words += static_cast<float>(static_cast<std::int64_t>(words));
    on.blocks += blocks;
    words_sent_[from] += words;
    words_ += static_cast<double>(static_cast<std::int64_t>(words));
  }

  // The least useful quarter of the edges at this end, of many the half. Returns false if none is
  // left to try.
  bool turn(int end) {
    const bool in = end >= ranks_;
    const int rank = end % ranks_;
    ranking_.clear();
    // Edges of the stage in which blocks begin (sending) or end (receiving) here, and of the other,
    // in which others' blocks pass.
    marked_.choose(needs_[in], rank);
    rank_edges(in, in, rank, [&, &beyond = open_.of(!in, in)](int other) {
      return marked_.count_common(beyond, other);
    });
    marked_.choose(open_.of(in, !in), rank);
    rank_edges(!in, in, rank, [&](int other) { return marked_.count_common(needs_[!in], other); });
    if (ranking_.empty()) return false;
    const std::size_t size = ranking_.size(), part = size > few ? (size + 1) / 2 : (size + 3) / 4;
    std::nth_element(ranking_.begin(), ranking_.begin() + static_cast<std::ptrdiff_t>(part) - 1,
                     ranking_.end());
    std::sort(ranking_.begin(), ranking_.begin() + static_cast<std::ptrdiff_t>(part));
    for (std::size_t k = 0; k < part; ++k) {
      const bool second = ranking_[k] >> 31 & 1;
      const int other = static_cast<int>(ranking_[k] & 0x7fffffff);
      if (in)
        close(second, other, rank);
      else
        close(second, rank, other);
    }
    return true;
  }

  // By how many pairs could go over an edge and one of the other stage, and the words on it. Such
  // numbers are in the order of their bits.
  template <class Pairs>
  void rank_edges(bool second, bool in, int rank, Pairs pairs) {
    const RankSets& candidates = untried(second, in);
    candidates.for_each_common(rank, candidates, rank, [&](int other) {
      const On& on = on_[in ? number_(second, other, rank) : number_(second, rank, other)];
      const float use = static_cast<float>(pairs(other) + word_weight_ * std::max(on.words, 0.0f));
      ranking_.push_back(std::uint64_t{std::bit_cast<std::uint32_t>(use)} << 32 |
                         std::uint64_t{second} << 31 | static_cast<std::uint32_t>(other));
      ++steps_;
    });
  }

  // Leads all blocks on it elsewhere, if they have ways and these have few enough words.
  void close(bool second, int from, int to) {
    untried(second, false).erase(from, to);
    untried(second, true).erase(to, from);
    open_.close(second, from, to);
    if (!find_detours(second, from, to)) {
      open_.open(second, from, to);
      most_kept_ = std::max({most_kept_, ++kept_[from], ++kept_[ranks_ + to]});
      return;
    }
    const int rank = second ? to : from;
    for (const Detour& detour : detours_) {
      const int a = second ? detour.end : rank, t = second ? rank : detour.end;
      leave(detour.block, a, t);
      enter(detour.block, a, t, detour.via);
    }
    --degree_[from];
    --degree_[ranks_ + to];
  }

  bool find_detours(bool second, int from, int to) {
    const int rank = second ? to : from, via = second ? from : to;
    const std::span<const std::int32_t> vias = via_[second].of(rank);
    detours_.clear();
    const std::size_t blocks = on_[number_(second, from, to)].blocks;
    double more = 0;
    // most have nothing for this edge: so the compiler may use vectors
    constexpr std::size_t width = 16;
    for (std::size_t begin = 0; detours_.size() < blocks; begin += width) {
      const std::size_t end = std::min(begin + width, vias.size());
      steps_ += end - begin;
      if (end == begin + width) {
        std::int32_t any = 0;
        for (std::size_t i = 0; i < width; ++i) any |= vias[begin + i] == via;
        if (!any) continue;
      }
      for (std::size_t k = begin; k < end; ++k) {
        if (vias[k] != via) continue;
        const std::int32_t other = via_[second].ends[via_[second].begin[rank] + k];
        const int a = second ? other : rank, t = second ? rank : other;
        const std::int32_t detour = open_.find(a, t, words_sent_);
        if (detour < 0) return false;
        const BlockNumber b =
            second ? matrix_.column(rank)[k] : matrix_.first_of(rank) + static_cast<BlockNumber>(k);
        if (limited_) {
          more += ((via == a || via == t) - (detour == a || detour == t)) *
                  static_cast<double>(matrix_.words(b));
          if (more > limits_.price || words_ + more > limits_.words) return false;
        }
        detours_.push_back({b, other, detour});
      }
    }
    return true;
  }

  const CommunicationMatrix& matrix_;
  ThinningLimits limits_;
  bool limited_;
  int ranks_;
  static constexpr std::size_t few = 24;  // edges of a rank
  StageSets open_;
  std::vector<RankSets> untried_;  // by stage and direction
  std::vector<RankSets> needs_;    // the pattern, by row and by column
  RankSets::Marked marked_{ranks_};
  std::array<Vias, 2> via_;         // likewise
  std::vector<std::size_t> place_;  // by block: in its column
  EdgeIndex number_;
  std::vector<On> on_;  // by number of an edge
  // by end: 0 .. ranks - 1 for what ranks send, and ranks more for what they receive
  std::vector<int> degree_;
  std::vector<int> kept_;  // likewise: those of them that cannot go
  int most_kept_ = 0;
  std::vector<std::uint64_t> words_sent_;  // by rank
  std::vector<double> weights_;            // by end
  // 1 / ranks of a rank's average words weigh as much as a tenth of a pair
  double words_ = 0, word_weight_;
  std::vector<std::uint64_t> ranking_;  // edges at one end: use, stage, other end
  std::vector<Detour> detours_;
  std::uint64_t steps_ = 0;
};

}  // namespace

Thinned thin(const CommunicationMatrix& matrix, const TwoStages& edges,
             const ThinningLimits& limits) {
  return Thinner(matrix, edges, limits).run();
}

}  // namespace tonari
