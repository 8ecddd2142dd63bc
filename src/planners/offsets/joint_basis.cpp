// SPDX-License-Identifier: BSD-3-Clause
// joint-basis (Träff 2016, §5): a small set of vectors, not bound to dimensions, such that every
// offset is a sum of distinct ones. Finding the smallest is hard; here a depth-first search that is
// bounded by the number of vectors it tries, so every rank finds the same set. Its starting point
// is the smallest basis by dimensions, which is a joint basis too.
#include <algorithm>
#include <bit>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "planners/offsets/dimensions.hpp"
#include "planners/offsets/offset_planner.hpp"

namespace tonari {
namespace {

constexpr std::size_t most_offsets = 64;
constexpr std::size_t most_tries = 1000;  // for each size of the basis

std::vector<Vec> distinct_offsets(const Neighborhood& near) {
  std::vector<Vec> offsets = routable_offsets(near);
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  std::erase(offsets, Vec{});
  return offsets;
}

// Reachable sums -> the set of basis vectors (bits) with the fewest summands.
using Reach = std::unordered_map<Vec, std::uint64_t, VecHash>;

class Search {
 public:
  Search(const Grid& grid, std::vector<Vec> wanted) : grid_(grid), wanted_(std::move(wanted)) {}

  // The smallest basis found with fewer than `below` vectors; empty if none.
  std::vector<Vec> run(std::size_t below) {
    list_candidates();
    const std::size_t fewest = std::bit_width(wanted_.size());
    for (std::size_t size = fewest; size < below && found_.empty(); ++size) {
      tries_ = 0;
      extend(Reach{{Vec{}, 0}}, size, 0);
    }
    return found_;
  }
  Reach reach(const std::vector<Vec>& basis) const {
    Reach sums{{Vec{}, 0}};
    for (std::size_t k = 0; k < basis.size(); ++k) sums = add(sums, basis[k], k);
    return sums;
  }

 private:
  void list_candidates() {
    // A basis vector is a wanted offset or the way from one wanted offset to another; those used
    // most often first.
    std::unordered_map<Vec, std::size_t, VecHash> uses;
    for (const Vec& to : wanted_) {
      uses[to] += wanted_.size();
      for (const Vec& from : wanted_)
        if (const Vec way = grid_.shortest(to - from); !way.is_zero()) ++uses[way];
    }
    std::vector<std::pair<std::size_t, Vec>> order;
    for (const auto& [vector, count] : uses) order.emplace_back(count, vector);
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (const auto& [count, vector] : order) candidates_.push_back(vector);
  }
  // Along a non-periodic dimension summands must not turn back: there a sum's sign is the sign of
  // all its summands.
  bool same_direction(const Vec& sum, const Vec& b) const {
    for (int j = 0; j < grid_.dimensions(); ++j)
      if (!grid_.periodic(j) && static_cast<std::int64_t>(sum[j]) * b[j] < 0) return false;
    return true;
  }
  Reach add(const Reach& sums, const Vec& b, std::size_t bit) const {
    Reach more = sums;
    for (const auto& [sum, bits] : sums) {
      if (!same_direction(sum, b)) continue;
      const std::uint64_t with = bits | std::uint64_t{1} << bit;
      auto [entry, fresh] = more.try_emplace(grid_.shortest(sum + b), with);
      const auto rank = [](std::uint64_t set) { return std::pair(std::popcount(set), set); };
      if (!fresh && rank(with) < rank(entry->second)) entry->second = with;
    }
    return more;
  }
  std::size_t missing(const Reach& sums) const {
    return std::count_if(wanted_.begin(), wanted_.end(),
                         [&](const Vec& v) { return !sums.contains(v); });
  }
  void extend(const Reach& sums, std::size_t left, std::size_t from) {
    const std::size_t lacking = missing(sums);
    if (lacking == 0) found_ = basis_;
    // Each further vector at most doubles the sums.
    if (lacking == 0 || left == 0 || lacking > (sums.size() << left) - sums.size()) return;
    for (std::size_t k = from; k < candidates_.size() && found_.empty() && tries_ < most_tries;
         ++k) {
      ++tries_;
      basis_.push_back(candidates_[k]);
      extend(add(sums, candidates_[k], basis_.size() - 1), left - 1, k + 1);
      basis_.pop_back();
    }
  }

  const Grid& grid_;
  std::vector<Vec> wanted_, candidates_, basis_, found_;
  std::size_t tries_ = 0;
};

std::vector<Vec> basis_by_dimension(const Neighborhood& near, Collective collective) {
  const bool additive = offset_additive_basis.pays(near, collective).empty();
  const OffsetPlanner& by_dimension = additive ? offset_additive_basis : offset_torus_direct;
  const auto shared = std::make_shared<const Neighborhood>(near);
  const std::vector<OffsetVariant> variants = by_dimension.variants(shared, collective);
  const std::span<const Vec> steps = variants.front().routing().steps();
  return {steps.begin(), steps.end()};
}

std::string applicable(const Neighborhood& near, Collective) {
  const std::size_t s = distinct_offsets(near).size();
  if (s <= most_offsets) return "";
  return "the search for a joint basis is for at most 64 distinct neighbors, here are " +
         std::to_string(s);
}

struct Found {
  std::vector<Vec> basis;
  std::unordered_map<Vec, std::vector<std::int32_t>, VecHash> sums;
};

// This tells whether the offsets and zero are all combinations of their coordinates, as in a full
// cube. Then the basis by dimensions is kept without a search, which is expensive and has found
// nothing smaller on any of them.
bool is_product(const std::vector<Vec>& offsets, int dimensions) {
  std::size_t combinations = 1;
  for (int j = 0; j < dimensions; ++j) {
    std::set<std::int32_t> coordinates{0};
    for (const Vec& offset : offsets) coordinates.insert(offset[j]);
    combinations *= coordinates.size();  // at most 65 each, in at most 8 dimensions
  }
  return combinations == offsets.size() + 1;
}

Found search(const Neighborhood& near, Collective collective) {
  const std::vector<Vec> wanted = distinct_offsets(near);
  Search search(near.grid, wanted);
  Found found{basis_by_dimension(near, collective), {}};
  if (!is_product(wanted, near.grid.dimensions()))
    if (const std::vector<Vec> smaller = search.run(found.basis.size()); !smaller.empty())
      found.basis = smaller;
  const Reach reach = search.reach(found.basis);
  std::uint64_t used = 0;
  for (const Vec& offset : wanted) used |= reach.at(offset);
  std::vector<Vec> kept;  // vectors that no sum needs would be rounds without a message
  for (std::size_t k = 0; k < found.basis.size(); ++k) {
    if (!(used >> k & 1)) continue;
    for (const Vec& offset : wanted)
      if (reach.at(offset) >> k & 1)
        found.sums[offset].push_back(static_cast<std::int32_t>(kept.size()));
    kept.push_back(found.basis[k]);
  }
  found.basis = std::move(kept);
  return found;
}

Routing route(const Neighborhood& near, const Found& found) {
  Routing routing(near);
  for (const Vec& b : found.basis) routing.add_step(b);
  for (const Vec& offset : routable_offsets(near)) {
    if (!offset.is_zero())
      for (std::int32_t step : found.sums.at(offset)) routing.hop(step);
    routing.end_path();
  }
  return routing;
}

std::vector<OffsetVariant> variants(std::shared_ptr<const Neighborhood> near,
                                    Collective collective) {
  const auto found = std::make_shared<const Found>(search(*near, collective));
  std::size_t hops = 0;
  for (const Vec& offset : routable_offsets(*near))
    if (!offset.is_zero()) hops += found->sums.at(offset).size();
  return {OffsetVariant("joint-basis", "", near, collective, found->basis.size(), hops,
                        [found](const Neighborhood& n) { return route(n, *found); })};
}

}  // namespace

const OffsetPlanner offset_joint_basis{"joint-basis", applicable, variants};

}  // namespace tonari
