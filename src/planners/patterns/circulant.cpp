// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/circulant.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <span>
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
        rounded_(weights_.size(), 0),
        size_(2 * (rows_ + line)),
        cells_{std::vector<std::uint8_t>(
                   kinds_ * (static_cast<std::size_t>(stages) + 1) * kinds_ * size_, unreached),
               {}},
        next_(length_),
        costs_(kinds_ * kinds_, 0),
        new_costs_(costs_) {
    cells_[1] = cells_[0];
    current_.assign(cells_[0].size() / size_, 0);
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
    for (std::size_t kind = 0; kind < kinds_; ++kind)
      for (std::vector<std::uint8_t>& cells : cells_) {
        std::uint8_t* own = cells.data() + place(kind, 0, kind) * size_;
        own[0] = own[rows_] = 0;
      }
    const std::vector<std::uint64_t> anew(static_cast<std::size_t>(stages), (1u << kinds) - 1);
    price(anew);
    accept();
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
    if (enough > 0 && cost() > 1.05 * enough) return false;
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
    weigh_all();
    std::vector<Generator> before;
    std::vector<std::uint64_t> changed(static_cast<std::size_t>(stages_));
    for (int step = 0; step < steps; ++step) {
      before = generators_;
      std::ranges::fill(changed, 0);
      change(changed);
      if (price(changed) <= cost() + threshold * (steps - step) / steps)
        accept();
      else
        generators_.swap(before);
      if (cost() <= enough && all_reached()) return;
      if (enough > 0 && hopeless(step, steps, cost() / enough)) return;
    }
  }

  // Searches that had more words than these after a part of their steps never came down to the
  // limit; those that did had less by a good margin.
  static bool hopeless(int step, int steps, double words) {
    struct Milestone {
      int eighths;
      double most;
    };
    for (const Milestone& m : {Milestone{1, 1.6}, {2, 1.42}, {4, 1.25}, {6, 1.15}})
      if (step == steps * m.eighths / 8 && words > m.most) return true;
    return false;
  }

  std::int32_t any_row() { return static_cast<std::int32_t>(random_() % rows_); }

  // One generator leads elsewhere. Ranks of a kind send and receive as many messages as before.
  // changed: the kinds, by stage, to which generators are others now
  void change(std::vector<std::uint64_t>& changed) {
    const std::size_t k = random_() % generators_.size();
    Generator& generator = generators_[k];
    const auto note = [&](const Generator& g) { changed[g.stage] |= std::uint64_t{1} << g.to; };
    note(generator);
    switch (kinds_ > 1 ? random_() % 8 : 2) {
      case 0: {
        Generator moved = generator;
        moved.stage = static_cast<std::int32_t>(random_() % static_cast<unsigned>(stages_));
        note(moved);
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
        note(other);
        std::swap(generator.to, other.to);
        note(generator);
        note(other);
        generator.rows = any_row();
        other.rows = any_row();
        break;
      }
      default:
        generator.rows = any_row();
    }
  }

  // Cells: the fewest hops of a way from a rank of the kind `from` to one of the kind `to` before a
  // stage, by the rows between them; twice, as rows go round.
  std::size_t place(std::size_t from, std::size_t stage, std::size_t to) const {
    return (from * (static_cast<std::size_t>(stages_) + 1) + stage) * kinds_ + to;
  }
  std::uint8_t* cells(std::size_t place, bool other = false) {
    return cells_[current_[place] ^ (other ? 1 : 0)].data() + place * size_;
  }

  // What it would cost with the generators as they are now. changed: as in change(), since what was
  // accepted. Only what follows from that is found anew, in the other cells of a place.
  double price(const std::vector<std::uint64_t>& changed) {
    touched_.clear();
    new_costs_ = costs_;
    for (std::size_t from = 0; from < kinds_; ++from) {
      std::uint64_t differ = 0;
      auto first = generators_.begin();
      for (int stage = 0; stage < stages_; ++stage) {
        auto last = first;
        std::uint64_t affected = differ | changed[static_cast<std::size_t>(stage)];
        for (; last != generators_.end() && last->stage == stage; ++last)
          affected |= (differ >> last->from & 1) << last->to;
        if (affected) differ = spread(from, {first, last}, stage, differ, affected);
        first = last;
      }
      for (std::size_t to = 0; to < kinds_; ++to)
        if (differ >> to & 1) new_costs_[from * kinds_ + to] = weighed(from, to, true);
    }
    return sum(new_costs_);
  }

  // The cells of the affected kinds after a stage. differ: those that are others before it. Returns
  // those that are others then.
  std::uint64_t spread(std::size_t from, std::span<const Generator> generators, int stage,
                       std::uint64_t differ, std::uint64_t affected) {
    const auto before = static_cast<std::size_t>(stage);
    std::uint64_t others = 0;
    for (std::size_t to = 0; to < kinds_; ++to) {
      if (!(affected >> to & 1)) continue;
      copy_lines(cells(place(from, before, to), differ >> to & 1), next_.data());
      for (const Generator& g : generators) {
        if (static_cast<std::size_t>(g.to) != to) continue;
        const auto via = static_cast<std::size_t>(g.from);
        const std::uint8_t* its = cells(place(from, before, via), differ >> via & 1) + rows_ -
                                  static_cast<std::size_t>(g.rows);
        for (std::size_t d = 0; d < length_; d += line) shorter(its + d, next_.data() + d);
      }
      const std::size_t after = place(from, before + 1, to);
      if (std::memcmp(next_.data(), cells(after), rows_) == 0) continue;
      others |= std::uint64_t{1} << to;
      touched_.push_back(after);
      copy_lines(next_.data(), cells(after, true));
      copy_lines(next_.data(), cells(after, true) + rows_);  // over what the first has too much
    }
    return others;
  }

  void copy_lines(const std::uint8_t* from, std::uint8_t* to) const {
    for (std::size_t d = 0; d < length_; d += line) std::memcpy(to + d, from + d, line);
  }

  // What price() has found is what there is now.
  void accept() {
    for (std::size_t place : touched_) current_[place] ^= 1;
    costs_.swap(new_costs_);
  }

  static double sum(const std::vector<double>& costs) {
    return std::accumulate(costs.begin(), costs.end(), 0.0);
  }
  double cost() const { return sum(costs_); }

  // Weights as whole numbers, none of them 0 that is not.
  void round_weights() {
    constexpr double most = std::numeric_limits<std::int16_t>::max();
    unit_ = std::ranges::max(weights_) / most;
    for (std::size_t k = 0; k < weights_.size(); ++k)
      rounded_[k] = static_cast<std::int16_t>(
          weights_[k] > 0 ? std::max(1.0, std::round(weights_[k] / unit_)) : 0);
  }

  void weigh_all() {
    round_weights();
    for (std::size_t from = 0; from < kinds_; ++from)
      for (std::size_t to = 0; to < kinds_; ++to)
        costs_[from * kinds_ + to] = weighed(from, to, false);
  }

  double weighed(std::size_t from, std::size_t to, bool other) {
    return weighed(rounded_.data() + (from * kinds_ + to) * length_, at_end(from, to, other));
  }
  const std::uint8_t* at_end(std::size_t from, std::size_t to, bool other = false) {
    return cells(place(from, static_cast<std::size_t>(stages_), to), other);
  }

  // In whole numbers, of which compilers make vector instructions.
  double weighed(const std::int16_t* weights, const std::uint8_t* hops) const {
    std::int64_t all = 0;
    for (std::size_t d = 0; d < length_; d += line) {
      std::int32_t sum = 0;
      for (std::size_t k = 0; k < line; ++k)
        sum += weights[d + k] * static_cast<std::int16_t>(hops[d + k]);
      all += sum;
    }
    return unit_ * static_cast<double>(all);
  }

  bool all_reached() {
    for (std::size_t from = 0; from < kinds_; ++from)
      for (std::size_t to = 0; to < kinds_; ++to)
        for (std::size_t d = 0; d < rows_; ++d)
          if (weights_[(from * kinds_ + to) * length_ + d] > 0 && at_end(from, to)[d] >= unreached)
            return false;
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
  std::vector<float> weights_;         // by what lies between two ranks; 0: no block
  std::vector<std::int16_t> rounded_;  // weights, in units
  double unit_ = 1;
  std::size_t size_;                                // of the cells of a place
  std::array<std::vector<std::uint8_t>, 2> cells_;  // by place: what there is, and what may be
  std::vector<std::uint8_t> current_;               // by place: which of them is what there is
  std::vector<std::size_t> touched_;                // places in which the last price was found anew
  std::vector<std::uint8_t> next_;
  std::vector<double> costs_, new_costs_;  // by kinds
  std::vector<Generator> generators_;      // ascending by stage
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
