// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/circulant.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <utility>

namespace tonari {
namespace {

// More than any way has; a block without a way counts as many.
constexpr std::uint8_t unreached = 20;
constexpr std::size_t line = 64;

// All ranks of the kind `from` write to ranks of the kind `to`, so many rows further on.
struct Generator {
  std::int32_t stage, from, to, rows;
};

// Fixed lengths and no overlap: compilers make vector instructions of it.
void shorter(const std::uint8_t* __restrict from, std::uint8_t* __restrict to) {
  for (std::size_t k = 0; k < line; ++k) {
    const auto hops = static_cast<std::uint8_t>(from[k] + 1);
    to[k] = std::min(to[k], hops);
  }
}

std::size_t lines(std::size_t rows) { return (rows + line - 1) / line * line; }

// Rank r is of the kind r % kinds, in the row r / kinds. What lies between two ranks is the kind of
// each, and the rows from one to the other.
class Search {
 public:
  Search(const CommunicationMatrix& matrix, int messages, int stages, int kinds)
      : kinds_(static_cast<std::size_t>(kinds)),
        rows_(static_cast<std::size_t>(matrix.ranks()) / kinds_),
        length_(lines(rows_)),
        stages_(stages),
        weights_(kinds_ * kinds_ * length_, 0),
        hops_(kinds_ * 2 * (rows_ + line)),
        next_(hops_) {
    // in proportion: the same pattern in bytes has the same generators
    const double all = static_cast<double>(matrix.statistics().words);
    const double one = 0.001 * (all > 0 ? all : 1.0) / static_cast<double>(matrix.blocks());
    const double unit = 1 / (all + one * static_cast<double>(matrix.blocks()));
    for (BlockNumber b = 0; b < matrix.blocks(); ++b)
      weights_[between(matrix, b)] +=
          static_cast<float>(unit * (one + static_cast<double>(matrix.words(b))));
    for (int m = 0; m < messages; ++m)
      for (int kind = 0; kind < kinds; ++kind)
        generators_.push_back({(m + kind) % stages, kind, (m + kind) % kinds, any_row()});
    std::stable_sort(generators_.begin(), generators_.end(),
                     [](const Generator& a, const Generator& b) { return a.stage < b.stage; });
  }

  // The place of a block among weights.
  std::size_t between(const CommunicationMatrix& matrix, BlockNumber b) const {
    const auto from = static_cast<std::size_t>(matrix.origin(b)),
               to = static_cast<std::size_t>(matrix.target(b));
    const std::size_t rows = (to / kinds_ + rows_ - from / kinds_) % rows_;
    return (from % kinds_ * kinds_ + to % kinds_) * length_ + rows;
  }

  // Until a word takes no more hops than `enough`, if that is not 0. False if it takes far more, or
  // some block has no way.
  bool run(int steps, double enough) {
    improve(steps, 0.03, enough);
    if (enough > 0 && price() > 1.05 * enough) return false;
    // Blocks without a way count more and more, until a rest of the search has found ways for them.
    constexpr int most_tries = 3;
    for (int tries = 0; tries < most_tries && !all_reached(); ++tries) {
      const float some = 0.5f / static_cast<float>(kinds_ * kinds_ * rows_);
      for (float& weight : weights_)
        if (weight > 0) weight += some;
      improve(steps / 4, 0.001, 0);
    }
    return all_reached();
  }

  // By what lies between two ranks: the generators of the way, in the order of stages.
  std::vector<std::vector<Generator>> ways() {
    std::vector<std::vector<Generator>> all(weights_.size());
    for (std::size_t kind = 0; kind < kinds_; ++kind) find_ways(kind, all);
    return all;
  }

 private:
  // threshold: hops of a word
  void improve(int steps, double threshold, double enough) {
    double cost = price();
    std::vector<Generator> before;
    for (int step = 0; step < steps; ++step) {
      before = generators_;
      change();
      const double now = price();
      if (now <= cost + threshold * (steps - step) / steps)
        cost = now;
      else
        generators_.swap(before);
      if (cost <= enough && all_reached()) return;
    }
  }

  std::int32_t any_row() { return static_cast<std::int32_t>(random_() % rows_); }

  // One generator leads elsewhere. Ranks of a kind send and receive as many messages as before.
  void change() {
    const std::size_t k = random_() % generators_.size();
    Generator& generator = generators_[k];
    switch (kinds_ > 1 ? random_() % 8 : 2) {
      case 0: {
        Generator moved = generator;
        moved.stage = static_cast<std::int32_t>(random_() % static_cast<unsigned>(stages_));
        generators_.erase(generators_.begin() + static_cast<std::ptrdiff_t>(k));
        generators_.insert(std::upper_bound(generators_.begin(), generators_.end(), moved,
                                            [](const Generator& a, const Generator& b) {
                                              return a.stage < b.stage;
                                            }),
                           moved);
        break;
      }
      case 1: {
        Generator& other = generators_[random_() % generators_.size()];
        std::swap(generator.to, other.to);
        generator.rows = any_row();
        other.rows = any_row();
        break;
      }
      default:
        generator.rows = any_row();
    }
  }

  std::uint8_t* of(std::vector<std::uint8_t>& cells, std::size_t kind) const {
    return cells.data() + kind * 2 * (rows_ + line);
  }

  // hops_: the fewest of a way from a rank of this kind, by kind and rows; twice, as rows go round.
  void spread(std::size_t kind) {
    std::fill(hops_.begin(), hops_.end(), unreached);
    of(hops_, kind)[0] = of(hops_, kind)[rows_] = 0;
    next_ = hops_;
    for (auto first = generators_.begin(); first != generators_.end();) {
      const std::int32_t stage = first->stage;
      std::uint64_t changed = 0;
      for (; first != generators_.end() && first->stage == stage; ++first) {
        const std::uint8_t* from = of(hops_, static_cast<std::size_t>(first->from)) + rows_ -
                                   static_cast<std::size_t>(first->rows);
        std::uint8_t* to = of(next_, static_cast<std::size_t>(first->to));
        for (std::size_t d = 0; d < rows_; d += line) shorter(from + d, to + d);
        changed |= std::uint64_t{1} << first->to;
      }
      for (std::size_t k = 0; k < kinds_; ++k) {
        if (!(changed >> k & 1)) continue;
        copy_lines(of(next_, k), of(hops_, k));
        copy_lines(of(next_, k), of(hops_, k) + rows_);  // over what the first one has too much
      }
    }
  }

  void copy_lines(const std::uint8_t* from, std::uint8_t* to) const {
    for (std::size_t d = 0; d < length_; d += line) std::memcpy(to + d, from + d, line);
  }

  double price() {
    double cost = 0;
    for (std::size_t from = 0; from < kinds_; ++from) {
      spread(from);
      for (std::size_t to = 0; to < kinds_; ++to)
        cost += weighed(weights_.data() + (from * kinds_ + to) * length_, of(hops_, to));
    }
    return cost;
  }
  // Sums side by side, so that compilers make vector instructions of it.
  double weighed(const float* weights, const std::uint8_t* hops) const {
    constexpr std::size_t width = 8;
    std::array<float, width> sums{};
    for (std::size_t d = 0; d < length_; d += width)
      for (std::size_t k = 0; k < width; ++k)
        sums[k] += weights[d + k] * static_cast<float>(hops[d + k]);
    double all = 0;
    for (float sum : sums) all += static_cast<double>(sum);
    return all;
  }

  bool all_reached() {
    for (std::size_t from = 0; from < kinds_; ++from) {
      spread(from);
      for (std::size_t to = 0; to < kinds_; ++to)
        for (std::size_t d = 0; d < rows_; ++d)
          if (weights_[(from * kinds_ + to) * length_ + d] > 0 && of(hops_, to)[d] >= unreached)
            return false;
    }
    return true;
  }

  void find_ways(std::size_t kind, std::vector<std::vector<Generator>>& all) const {
    const std::size_t first_place = kind * kinds_ * length_;
    std::vector<int> fewest(kinds_ * length_, unreached);
    fewest[kind * length_] = 0;
    for (auto first = generators_.begin(); first != generators_.end();) {
      const auto last = std::find_if(first, generators_.end(),
                                     [&](const Generator& g) { return g.stage != first->stage; });
      const std::vector<int> had = fewest;
      std::vector<std::pair<std::size_t, std::vector<Generator>>> found;
      for (; first != last; ++first)
        for (std::size_t d = 0; d < rows_; ++d) {
          const std::size_t row = (d + static_cast<std::size_t>(first->rows)) % rows_;
          const std::size_t from = static_cast<std::size_t>(first->from) * length_ + d,
                            to = static_cast<std::size_t>(first->to) * length_ + row;
          if (had[from] + 1 >= fewest[to]) continue;
          fewest[to] = had[from] + 1;
          found.emplace_back(to, all[first_place + from]);
          found.back().second.push_back(*first);
        }
      for (auto& [to, way] : found) all[first_place + to] = std::move(way);
    }
  }

  std::size_t kinds_, rows_;
  std::size_t length_;  // of the weights of a pair of kinds
  int stages_;
  std::mt19937 random_{1};
  std::vector<float> weights_;  // by what lies between two ranks; 0: no block
  std::vector<std::uint8_t> hops_, next_;
  std::vector<Generator> generators_;  // ascending by stage
};

}  // namespace

std::optional<MessageSchedule> circulant(const CommunicationMatrix& matrix, int messages,
                                         const CirculantShape& shape) {
  if (matrix.blocks() == 0) return direct_schedule(matrix);
  if (matrix.ranks() < 2 || messages < 1 || shape.stages < 1 || shape.kinds < 1 ||
      shape.kinds > most_kinds || matrix.ranks() % shape.kinds != 0)
    return std::nullopt;
  Search search(matrix, messages, shape.stages, shape.kinds);
  if (!search.run(shape.steps, shape.words)) return std::nullopt;
  const auto ways = search.ways();
  std::vector<BlockHop> hops;
  for (BlockNumber b = 0; b < matrix.blocks(); ++b) {
    std::int32_t at = matrix.origin(b);
    for (const Generator& g : ways[search.between(matrix, b)]) {
      const std::int32_t rows = matrix.ranks() / shape.kinds;
      const std::int32_t to = g.to + shape.kinds * ((at / shape.kinds + g.rows) % rows);
      hops.push_back({g.stage, at, to, b});
      at = to;
    }
  }
  return MessageSchedule(matrix, std::move(hops));
}

}  // namespace tonari
