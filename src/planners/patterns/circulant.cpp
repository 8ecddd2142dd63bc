// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/circulant.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace tonari {
namespace {

using Hops = std::vector<std::uint8_t>;

constexpr std::uint8_t unreached = 100;
constexpr std::size_t row = 64;

struct Generator {
  std::int32_t stage, step;
};

// Fixed lengths and no overlap: compilers make vector instructions of it.
void shorter(const std::uint8_t* __restrict from, std::uint8_t* __restrict to) {
  for (std::size_t k = 0; k < row; ++k) {
    const auto hops = static_cast<std::uint8_t>(from[k] + 1);
    to[k] = std::min(to[k], hops);
  }
}

class Search {
 public:
  Search(const CommunicationMatrix& matrix, int messages, int stages)
      : ranks_(static_cast<std::size_t>(matrix.ranks())),
        weights_(ranks_, 0),
        hops_(2 * ranks_ + 2 * row),
        next_(hops_) {
    // in proportion: the same pattern in bytes has the same generators
    const double all = static_cast<double>(matrix.statistics().words);
    const double one = 0.001 * (all > 0 ? all : 1.0) / static_cast<double>(matrix.blocks());
    for (BlockNumber b = 0; b < matrix.blocks(); ++b)
      weights_[distance(matrix, b)] += one + static_cast<double>(matrix.words(b));
    for (int m = 0; m < messages; ++m) generators_.push_back({m % stages, any_step()});
    std::sort(generators_.begin(), generators_.end(),
              [](const Generator& a, const Generator& b) { return a.stage < b.stage; });
  }

  std::size_t distance(const CommunicationMatrix& matrix, BlockNumber b) const {
    return (static_cast<std::size_t>(matrix.target(b)) + ranks_ -
            static_cast<std::size_t>(matrix.origin(b))) %
           ranks_;
  }

  // False if some distance has no sum.
  bool run() {
    constexpr int steps = 4000;
    double cost = price();
    const double threshold = 0.002 * cost;
    for (int step = 0; step < steps; ++step) {
      Generator& generator = generators_[random_() % generators_.size()];
      const std::int32_t before = std::exchange(generator.step, any_step());
      const double now = price();
      if (now <= cost + threshold * (steps - step) / steps)
        cost = now;
      else
        generator.step = before;
    }
    price();
    for (std::size_t d = 1; d < ranks_; ++d)
      if (weights_[d] > 0 && hops_[d] >= unreached) return false;
    return true;
  }

  // By distance: the generators whose sum it is, in the order of stages.
  std::vector<std::vector<Generator>> sums() const {
    std::vector<int> fewest(ranks_, unreached);
    std::vector<std::vector<Generator>> sums(ranks_);
    fewest[0] = 0;
    for (auto first = generators_.begin(); first != generators_.end();) {
      const auto last = std::find_if(first, generators_.end(),
                                     [&](const Generator& g) { return g.stage != first->stage; });
      const auto before = sums;
      const std::vector<int> had = fewest;
      for (; first != last; ++first)
        for (std::size_t d = 0; d < ranks_; ++d) {
          const std::size_t from = (d + ranks_ - static_cast<std::size_t>(first->step)) % ranks_;
          if (had[from] + 1 >= fewest[d]) continue;
          fewest[d] = had[from] + 1;
          sums[d] = before[from];
          sums[d].push_back(*first);
        }
    }
    return sums;
  }

 private:
  std::int32_t any_step() { return 1 + static_cast<std::int32_t>(random_() % (ranks_ - 1)); }

  // hops_[d], d < ranks, and once more behind: the fewest summands of d.
  double price() {
    std::fill(hops_.begin(), hops_.end(), unreached);
    hops_[0] = hops_[ranks_] = 0;
    next_ = hops_;
    for (std::size_t k = 0; k < generators_.size(); ++k) {
      if (k > 0 && generators_[k].stage != generators_[k - 1].stage) end_stage();
      const std::uint8_t* from =
          hops_.data() + ranks_ - static_cast<std::size_t>(generators_[k].step);
      for (std::size_t d = 0; d < ranks_; d += row) shorter(from + d, next_.data() + d);
    }
    end_stage();
    double cost = 0;
    for (std::size_t d = 1; d < ranks_; ++d)
      cost += weights_[d] * std::min(hops_[d], std::uint8_t{20});
    return cost;
  }
  void end_stage() {
    const auto end = next_.begin() + static_cast<std::ptrdiff_t>(ranks_);
    std::copy(next_.begin(), end, hops_.begin());
    std::copy(next_.begin(), end, hops_.begin() + static_cast<std::ptrdiff_t>(ranks_));
  }

  std::size_t ranks_;
  std::mt19937 random_{1};
  std::vector<double> weights_;  // by distance; 0: no block
  Hops hops_, next_;
  std::vector<Generator> generators_;  // ascending by stage
};

}  // namespace

std::optional<MessageSchedule> circulant(const CommunicationMatrix& matrix, int messages,
                                         int stages) {
  if (matrix.blocks() == 0) return direct_schedule(matrix);
  if (matrix.ranks() < 2 || messages < 1 || stages < 1) return std::nullopt;
  Search search(matrix, messages, stages);
  if (!search.run()) return std::nullopt;
  const auto sums = search.sums();
  std::vector<BlockHop> hops;
  for (BlockNumber b = 0; b < matrix.blocks(); ++b) {
    std::int32_t at = matrix.origin(b);
    for (const Generator& g : sums[search.distance(matrix, b)]) {
      const std::int32_t to = (at + g.step) % matrix.ranks();
      hops.push_back({g.stage, at, to, b});
      at = to;
    }
  }
  return MessageSchedule(matrix, std::move(hops));
}

}  // namespace tonari
