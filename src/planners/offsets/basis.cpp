// SPDX-License-Identifier: BSD-3-Clause
#include "planners/offsets/basis.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <utility>

namespace tonari {
namespace {

using Numbers = std::vector<std::int32_t>;

constexpr int most_exhaustive = 12;  // candidate numbers for which all subsets are tried
constexpr std::size_t most_table = 1 << 16;
constexpr std::int32_t far = std::numeric_limits<std::int32_t>::max();

// Fewest summands for every reachable sum: a 0/1 knapsack over residues. Layers are kept to read
// the sums back.
class Sums {
 public:
  Sums(const Numbers& basis, SumRule rule) : basis_(basis) {
    std::int64_t span = 0;
    for (std::int64_t b : basis) span += std::abs(b);
    const bool wraps = rule.modulus > 0 && rule.modulus <= 2 * span;
    size_ = wraps ? rule.modulus : 2 * span + 1;
    farthest_ = wraps ? rule.modulus : span;
    count_.assign((basis.size() + 1) * size_, far);
    count_[0] = 0;
    for (std::size_t k = 0; k < basis.size(); ++k)
      for (std::int64_t r = 0; r < size_; ++r) {
        const std::int32_t without = at(k, r), before = at(k, r - basis[k]);
        at(k + 1, r) = before == far ? without : std::min(without, before + 1);
      }
  }
  // Ascending indices into the basis; nothing if out of reach.
  Numbers read(std::int32_t sum) {
    Numbers indices;
    std::int64_t r = sum;
    if (std::abs(r) > farthest_ || at(basis_.size(), r) == far) return indices;
    for (std::size_t k = basis_.size(); k > 0; --k)
      if (at(k, r) != at(k - 1, r)) {
        indices.push_back(static_cast<std::int32_t>(k - 1));
        r -= basis_[k - 1];
      }
    std::reverse(indices.begin(), indices.end());
    return indices;
  }

 private:
  std::int32_t& at(std::size_t layer, std::int64_t r) {
    return count_[layer * size_ + ((r % size_) + size_) % size_];
  }
  const Numbers& basis_;
  std::int64_t size_, farthest_;
  std::vector<std::int32_t> count_;
};

bool covers(const Axis& axis) { return !axis.sums.empty(); }

// Numbers that no sum needs would be rounds without a message.
void drop_unused(Axis& axis) {
  std::vector<std::int32_t> renamed(axis.lengths.size(), -1);
  for (const auto& [c, sum] : axis.sums)
    for (std::int32_t index : sum) renamed[index] = 0;
  Numbers used;
  for (std::size_t k = 0; k < renamed.size(); ++k)
    if (renamed[k] == 0)
      renamed[k] = static_cast<std::int32_t>(used.size()), used.push_back(axis.lengths[k]);
  for (auto& [c, sum] : axis.sums)
    for (std::int32_t& index : sum) index = renamed[index];
  axis.lengths = std::move(used);
}

void keep_if_better(std::vector<Axis>& best, const Numbers& basis, const Coordinates& wanted,
                    SumRule rule) {
  Axis axis = sums_over(basis, wanted, rule);
  if (!covers(axis)) return;
  drop_unused(axis);
  if (best.size() <= axis.lengths.size()) best.resize(axis.lengths.size() + 1);
  Axis& old = best[axis.lengths.size()];
  if (!covers(old) || axis.hops(wanted) < old.hops(wanted)) old = std::move(axis);
}

std::int32_t largest(const Coordinates& wanted) {
  return wanted.empty()
             ? 0
             : std::max(std::abs(wanted.begin()->first), std::abs(wanted.rbegin()->first));
}

Numbers candidates(const Coordinates& wanted, SumRule rule, std::int32_t most) {
  Numbers numbers;
  if (most > most_exhaustive) return numbers;
  const bool plus = !rule.one_sign || wanted.rbegin()->first > 0,
             minus = !rule.one_sign || wanted.begin()->first < 0;
  for (std::int32_t b = 1; b <= most; ++b) {
    if (plus) numbers.push_back(b);
    if (minus) numbers.push_back(-b);
  }
  return numbers;
}

// 2^k sums must hold all wanted ones and zero.
int fewest_possible(const Coordinates& wanted) { return std::bit_width(wanted.size()); }

void try_all_subsets(std::vector<Axis>& best, const Numbers& numbers, const Coordinates& wanted,
                     SumRule rule) {
  const int fewest = fewest_possible(wanted);
  for (std::uint32_t subset = 1; subset < (1u << numbers.size()); ++subset) {
    if (std::popcount(subset) < fewest ||
        static_cast<std::size_t>(std::popcount(subset)) > wanted.size())
      continue;
    Numbers basis;
    for (std::size_t k = 0; k < numbers.size(); ++k)
      if (subset >> k & 1) basis.push_back(numbers[k]);
    keep_if_better(best, basis, wanted, rule);
  }
}

// Numbers larger than all wanted ones help rarely ({-4,-2,-1,3,4} needs one), so they are tried
// only where they might.
void try_small_numbers(std::vector<Axis>& best, const Numbers& numbers, const Coordinates& wanted,
                       SumRule rule) {
  try_all_subsets(best, numbers, wanted, rule);
  const std::size_t fewest = std::find_if(best.begin(), best.end(), covers) - best.begin();
  if (rule.one_sign || fewest <= static_cast<std::size_t>(fewest_possible(wanted))) return;
  const Numbers more = candidates(wanted, rule, largest(wanted) + largest(wanted) / 2);
  if (more.size() <= most_exhaustive) try_all_subsets(best, more, wanted, rule);
}

// 1 .. w-1, then multiples of w up to the largest: two summands at most; w = 2^k also in binary
// steps below.
void add_radix(std::vector<Numbers>& families, std::int32_t most) {
  for (std::int32_t w = 2; w * w <= 4 * most && w <= 64; ++w) {
    Numbers basis;
    for (std::int32_t b = 1; b < w; ++b) basis.push_back(b);
    for (std::int32_t b = w; b <= most; b += w) basis.push_back(b);
    families.push_back(basis);
  }
}

Numbers mirrored(const Numbers& basis) {
  Numbers both = basis;
  for (std::int32_t b : basis) both.push_back(-b);
  return both;
}

void try_families(std::vector<Axis>& best, const Coordinates& wanted, SumRule rule) {
  const std::int32_t most = largest(wanted);
  Numbers binary;
  for (std::int64_t b = 1; b <= most; b *= 2) binary.push_back(static_cast<std::int32_t>(b));
  std::vector<Numbers> families{binary};
  add_radix(families, most);
  // 1, 2, .., 2^k and -2^(k+1): every number from -2^(k+1) to 2^(k+1) - 1
  Numbers balanced = binary;
  if (binary.size() < 31)
    balanced.push_back(static_cast<std::int32_t>(-(std::int64_t{1} << binary.size())));
  if (rule.modulus == 0 || std::abs(balanced.back()) < rule.modulus) families.push_back(balanced);
  for (const Numbers& basis : families) {
    keep_if_better(best, basis, wanted, rule);
    keep_if_better(best, mirrored(basis), wanted, rule);
  }
}

}  // namespace

Axis sums_over(const std::vector<std::int32_t>& basis, const Coordinates& wanted, SumRule rule) {
  Axis axis{basis, {}};
  Numbers plus, minus;
  if (rule.one_sign)
    for (std::int32_t b : basis) (b > 0 ? plus : minus).push_back(b);
  std::vector<Sums> sums;
  if (!rule.one_sign)
    sums.emplace_back(basis, rule);
  else
    sums.emplace_back(plus, rule), sums.emplace_back(minus, rule);
  for (const auto& [c, blocks] : wanted) {
    Numbers sum = sums[rule.one_sign && c < 0].read(c);
    if (sum.empty()) return {};
    if (rule.one_sign)  // back to indices of the whole basis
      for (std::int32_t& index : sum)
        index = static_cast<std::int32_t>(
            std::find(basis.begin(), basis.end(), (c > 0 ? plus : minus)[index]) - basis.begin());
    std::sort(sum.begin(), sum.end());
    axis.sums[c] = std::move(sum);
  }
  return axis;
}

std::vector<Axis> front(const Coordinates& wanted, SumRule rule) {
  if (wanted.empty()) return {Axis{}};
  std::vector<Axis> best;  // by number of rounds
  const Numbers numbers = candidates(wanted, rule, largest(wanted));
  if (!numbers.empty() && numbers.size() <= most_exhaustive)
    try_small_numbers(best, numbers, wanted, rule);
  else if (static_cast<std::size_t>(largest(wanted)) * wanted.size() <= most_table)
    try_families(best, wanted, rule);
  std::vector<Axis> front;
  std::size_t hops = std::numeric_limits<std::size_t>::max();
  for (Axis& axis : best)
    if (covers(axis) && axis.lengths.size() < wanted.size() && axis.hops(wanted) < hops) {
      hops = axis.hops(wanted);
      front.push_back(std::move(axis));
    }
  Axis whole = direct_axis(wanted);
  if (whole.hops(wanted) < hops) front.push_back(std::move(whole));
  return front;
}

}  // namespace tonari
