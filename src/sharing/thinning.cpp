#include "sharing/thinning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "base/error.hpp"
#include "sharing/rank_sets.hpp"

namespace tonari {
namespace {

class Thinner {
 public:
  Thinner(const CommunicationMatrix& matrix, const TwoStages& edges, const ThinningLimits& limits)
      : matrix_(matrix), limits_(limits), ranks_(matrix.ranks()), open_(4, RankSets(ranks_)), untried_(open_), needs_(2, RankSets(ranks_)),
        degree_(2 * static_cast<std::size_t>(ranks_), 0), load_(static_cast<std::size_t>(ranks_), 0), on_(load_) {
    for (bool second : {false, true})
      for (const RankPair& e : edges[second])
        for (bool in : {false, true}) {
          const int set = in ? e.to : e.from, rank = in ? e.from : e.to;
          open(second, in).insert(set, rank);
          untried(second, in).insert(set, rank);
          ++degree_[in * ranks_ + set];
        }
    for (int rank = 0; rank < ranks_; ++rank) {  // to stay is a way, too
      open(false, false).insert(rank, rank);
      open(true, true).insert(rank, rank);
    }
    list_blocks();
    for (int end = 0; end < 2 * ranks_; ++end) weights_.push_back(std::sqrt(static_cast<double>(via_[end < ranks_ ? 0 : 1].of(end % ranks_).size())));
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
    }
    return {std::move(via_[0].ranks), steps_};
  }

 private:
  // Where the blocks of a row or a column go.
  struct Vias {
    std::vector<std::size_t> begin;
    std::vector<std::int32_t> ranks;
    std::vector<float> words;
    std::span<std::int32_t> of(int row) { return std::span(ranks).subspan(begin[row], begin[row + 1] - begin[row]); }
    std::span<const float> words_of(int row) const { return std::span(words).subspan(begin[row], begin[row + 1] - begin[row]); }
  };
  struct Detour {
    BlockNumber block;
    std::int32_t via;
  };

  // Sets of a stage: to whom each rank may write, or (in) who may write to it.
  RankSets& open(bool second, bool in) { return open_[2 * second + in]; }
  RankSets& untried(bool second, bool in) { return untried_[2 * second + in]; }
  double urgency(int end) const { return degree_[end] * weights_[end]; }

  void list_blocks() {
    for (Vias& vias : via_) {
      vias.begin.assign(static_cast<std::size_t>(ranks_) + 1, 0);
      vias.ranks.resize(matrix_.blocks());
      vias.words.resize(matrix_.blocks());
    }
    place_.resize(matrix_.blocks());
    std::size_t place = 0;
    for (int rank = 0; rank < ranks_; ++rank) {
      via_[0].begin[rank + 1] = via_[0].begin[rank] + static_cast<std::size_t>(matrix_.sent_by(rank));
      for (BlockNumber b : matrix_.column(rank)) {
        via_[1].words[place] = static_cast<float>(matrix_.words(b));
        place_[b] = place++;
      }
      via_[1].begin[rank + 1] = place;
    }
    for (BlockNumber b = 0; b < matrix_.blocks(); ++b) {
      const std::int32_t a = matrix_.origin(b), t = matrix_.target(b);
      needs_[0].insert(a, t);
      needs_[1].insert(t, a);
      via_[0].words[b] = static_cast<float>(matrix_.words(b));
      const std::int32_t via = find(a, t);
      if (via < 0) fail(Errc::internal, "thinning starts without a way from ", a, " to ", t);
      words_ += enter(b, via);
    }
  }

  // Where both ends may choose the stage of a single edge they take turns, so that both stages are in use.
  std::int32_t find(int a, int t) {
    const bool first = open(false, false).contains(a, t), second = open(true, true).contains(t, a);
    if (first || second) return first && (!second || (a + t) % 2 == 0) ? t : a;
    std::int32_t best = -1;
    double least = std::numeric_limits<double>::infinity();
    open(false, false).for_each_common(a, open(true, true), t, [&](int via) {
      if (load_[via] >= least) return;
      best = via;
      least = load_[via];
    });
    return best;
  }

  // Returns the words that it takes.
  double enter(BlockNumber b, std::int32_t via) {
    via_[0].ranks[b] = via_[1].ranks[place_[b]] = via;
    return carry(b, via, static_cast<double>(matrix_.words(b)));
  }
  double carry(BlockNumber b, std::int32_t via, double words) {
    load_[matrix_.origin(b)] += words;
    if (direct(b, via)) return words;
    load_[via] += words;
    return 2 * words;
  }
  bool direct(BlockNumber b, std::int32_t via) const { return via == matrix_.origin(b) || via == matrix_.target(b); }

  // The least useful quarter of the edges at this end, of many the half. Returns false if none is left to try.
  bool turn(int end) {
    const bool in = end >= ranks_;
    const int rank = end % ranks_;
    ranking_.clear();
    rank_outer(rank, in);
    rank_inner(rank, in);
    if (ranking_.empty()) return false;
    const std::size_t size = ranking_.size(), part = size > few ? (size + 1) / 2 : (size + 3) / 4;
    std::nth_element(ranking_.begin(), ranking_.begin() + static_cast<std::ptrdiff_t>(part) - 1, ranking_.end());
    std::sort(ranking_.begin(), ranking_.begin() + static_cast<std::ptrdiff_t>(part));
    for (std::size_t k = 0; k < part; ++k) {
      const auto [use, second, other] = ranking_[k];
      if (in) close(second, other, rank);
      else close(second, rank, other);
    }
    return true;
  }

  // Edges of the stage in which the blocks begin (sending) or end (receiving) at this rank: it knows all that are on them.
  void rank_outer(int rank, bool in) {
    const std::span<const std::int32_t> vias = via_[in].of(rank);
    const std::span<const float> words = via_[in].words_of(rank);
    for (std::size_t k = 0; k < vias.size(); ++k) on_[vias[k]] += words[k];
    const RankSets &candidates = untried(in, in), &beyond = open(!in, in);
    candidates.for_each_common(rank, candidates, rank,
                               [&](int other) { ranking_.push_back({use(beyond, other, needs_[in], rank, on_[other]), in, other}); });
    for (std::int32_t via : vias) on_[via] = 0;
    steps_ += vias.size();
  }
  // Edges of the other stage: what is on them are others' blocks.
  void rank_inner(int rank, bool in) {
    const RankSets &candidates = untried(!in, in), &before = open(in, !in);
    candidates.for_each_common(rank, candidates, rank, [&](int other) {
      const std::span<const std::int32_t> vias = via_[!in].of(other);
      const std::span<const float> words = via_[!in].words_of(other);
      const float on = words_by_way_of(rank, vias, words);
      steps_ += vias.size();
      ranking_.push_back({use(before, rank, needs_[!in], other, on), !in, other});
    });
  }

  // Eight sums side by side: so the compiler may use vectors.
  static float words_by_way_of(int rank, std::span<const std::int32_t> vias, std::span<const float> words) {
    std::array<float, 8> sums{};
    std::size_t k = 0;
    for (; k + 8 <= vias.size(); k += 8)
      for (std::size_t i = 0; i < 8; ++i) sums[i] += vias[k + i] == rank ? words[k + i] : 0;
    for (; k < vias.size(); ++k) sums[0] += vias[k] == rank ? words[k] : 0;
    float sum = 0;
    for (float s : sums) sum += s;
    return sum;
  }

  // How many pairs could go over this edge and one of the other stage, and the words on it.
  float use(const RankSets& beyond, int via, const RankSets& needs, int rank, double words) const {
    return static_cast<float>(beyond.count_common(via, needs, rank) + word_weight_ * words);
  }

  // Leads all blocks on it elsewhere, if they have ways and these have few enough words.
  void close(bool second, int from, int to) {
    for (bool in : {false, true}) {
      untried(second, in).erase(in ? to : from, in ? from : to);
      open(second, in).erase(in ? to : from, in ? from : to);
    }
    if (!find_detours(second, from, to)) {
      for (bool in : {false, true}) open(second, in).insert(in ? to : from, in ? from : to);
      return;
    }
    for (const Detour& detour : detours_) {
      const BlockNumber b = detour.block;
      words_ += carry(b, via_[0].ranks[b], -static_cast<double>(matrix_.words(b)));
      words_ += enter(b, detour.via);
    }
    --degree_[from];
    --degree_[ranks_ + to];
  }

  bool find_detours(bool second, int from, int to) {
    const int rank = second ? to : from, via = second ? from : to;
    const std::span<const std::int32_t> vias = via_[second].of(rank);
    detours_.clear();
    steps_ += vias.size();
    double more = 0;
    constexpr std::size_t width = 16;  // most have nothing for this edge: so the compiler may use vectors
    for (std::size_t begin = 0; begin < vias.size(); begin += width) {
      const std::size_t end = std::min(begin + width, vias.size());
      if (end == begin + width) {
        std::int32_t any = 0;
        for (std::size_t i = 0; i < width; ++i) any |= vias[begin + i] == via;
        if (!any) continue;
      }
      for (std::size_t k = begin; k < end; ++k) {
        if (vias[k] != via) continue;
        const BlockNumber b = second ? matrix_.column(rank)[k] : matrix_.first_of(rank) + static_cast<BlockNumber>(k);
        const std::int32_t detour = find(matrix_.origin(b), matrix_.target(b));
        if (detour < 0) return false;
        more += (direct(b, via) - direct(b, detour)) * static_cast<double>(matrix_.words(b));
        if (more > limits_.price || words_ + more > limits_.words) return false;
        detours_.push_back({b, detour});
      }
    }
    return true;
  }

  struct Candidate {
    float use;
    bool second;
    std::int32_t other;
    friend auto operator<=>(const Candidate&, const Candidate&) = default;
  };

  const CommunicationMatrix& matrix_;
  ThinningLimits limits_;
  int ranks_;
  static constexpr std::size_t few = 24;  // edges of a rank
  std::vector<RankSets> open_, untried_;  // by stage and direction
  std::vector<RankSets> needs_;           // the pattern, by row and by column
  std::array<Vias, 2> via_;               // likewise
  std::vector<std::size_t> place_;        // by block: in its column
  std::vector<int> degree_;               // by end: 0 .. ranks - 1 for what ranks send, and so many more for what they receive
  std::vector<double> load_, on_;         // words to send, by rank; on edges, by rank at the other end, zeros between uses
  std::vector<double> weights_;           // by end
  double words_ = 0, word_weight_;        // 1 / ranks of a rank's average words weigh as much as a tenth of a pair
  std::vector<Candidate> ranking_;
  std::vector<Detour> detours_;
  std::uint64_t steps_ = 0;
};

}  // namespace

Thinned thin(const CommunicationMatrix& matrix, const TwoStages& edges, const ThinningLimits& limits) { return Thinner(matrix, edges, limits).run(); }

}  // namespace tonari
