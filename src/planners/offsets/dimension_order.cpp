// SPDX-License-Identifier: BSD-3-Clause
#include "planners/offsets/dimension_order.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "planners/offsets/place_map.hpp"
#include "planners/offsets/routing.hpp"

namespace tonari {
namespace {

using Order = std::vector<int>;
using Dimensions = std::uint32_t;  // a set, as bits

Order order_of_paper(const Neighborhood& near) {
  Order order(static_cast<std::size_t>(near.grid.dimensions()));
  std::iota(order.begin(), order.end(), 0);
  const std::vector<Coordinates> coordinates = coordinates_by_dimension(near);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return coordinates[a].size() < coordinates[b].size(); });
  return order;
}

// Counts places. Those that blocks come to along one dimension depend on which dimensions they
// have visited before, but not on the order of these:
//
//   W(order) = sum over k of places({order[0] .. order[k-1]}, order[k])
class Places {
 public:
  Places(const Neighborhood& near, const std::vector<Axis>& axes)
      : offsets_(routable_offsets(near)), stops_(axes.size()) {
    for (std::size_t j = 0; j < axes.size(); ++j)
      for (const auto& [coordinate, sum] : axes[j].sums)
        add_stops(near.grid, axes[j], j, coordinate);
    seen_.emplace(corners_, 0);
  }

  // How many places one call looks at.
  std::size_t looked_at() const { return offsets_.size() * longest_; }

  // Distinct places to which blocks come along dimension k once they have visited `before`.
  std::size_t operator()(Dimensions before, int k) {
    std::size_t count = 0;
    ++now_;
    for (const Vec& offset : offsets_) {
      if (offset[k] == 0) continue;
      Vec place;
      for (int j = 0; j < max_dimensions; ++j)
        if (before >> j & 1) place[j] = offset[j];
      for (const std::int32_t stop : stops_[k].at(offset[k])) {
        place[k] = stop;
        count += std::exchange((*seen_)[place], now_) != now_;
      }
    }
    return count;
  }

 private:
  // Where a block comes on its way along dimension j; back at its start it is nowhere new.
  void add_stops(const Grid& grid, const Axis& axis, std::size_t j, std::int32_t coordinate) {
    std::vector<std::int32_t>& stops = stops_[j][coordinate];
    Vec at;
    for (const std::int32_t index : axis.sums.at(coordinate)) {
      at[j] += axis.lengths[static_cast<std::size_t>(index)];
      const std::int32_t stop = grid.shortest(at)[j];
      if (stop != 0) stops.push_back(stop);
      corners_[0][j] = std::min(corners_[0][j], stop);
      corners_[1][j] = std::max(corners_[1][j], stop);
    }
    longest_ = std::max(longest_, stops.size());
  }

  std::vector<Vec> offsets_, corners_ = std::vector<Vec>(2);
  std::vector<std::map<std::int32_t, std::vector<std::int32_t>>> stops_;  // [dimension][coordinate]
  std::size_t longest_ = 1;
  std::optional<PlaceMap> seen_;  // place -> the last count that it was in
  std::uint32_t now_ = 0;
};

// The least W of all orders that visit a set of dimensions, from those of its subsets.
class Search {
 public:
  Search(Places& places, int dimensions) : places_(places), least_(std::size_t{1} << dimensions) {
    for (Dimensions set = 1; set < least_.size(); ++set)
      for (int k = 0; k < dimensions; ++k) {
        if (!(set >> k & 1)) continue;
        const Dimensions before = set & ~(1u << k);
        const std::size_t volume = least_[before].volume + places_(before, k);
        if (least_[set].last < 0 || volume < least_[set].volume) least_[set] = {volume, k};
      }
  }

  std::size_t volume() const { return least_.back().volume; }
  std::size_t volume(const Order& order) const {
    std::size_t volume = 0;
    Dimensions before = 0;
    for (const int k : order) volume += places_(before, k), before |= 1u << k;
    return volume;
  }
  Order order() const {
    Order order;
    for (auto set = static_cast<Dimensions>(least_.size() - 1); set != 0;
         set &= ~(1u << order.back()))
      order.push_back(least_[set].last);
    std::reverse(order.begin(), order.end());
    return order;
  }

 private:
  struct Least {
    std::size_t volume = 0;
    int last = -1;  // the dimension that is visited last
  };
  Places& places_;
  std::vector<Least> least_;  // by set
};

}  // namespace

std::vector<int> dimension_order(const Neighborhood& near, const std::vector<Axis>& axes,
                                 Collective collective) {
  const int d = near.grid.dimensions();
  Order given(static_cast<std::size_t>(d));
  std::iota(given.begin(), given.end(), 0);
  if (collective == Collective::alltoall || d < 2) return given;
  Order of_paper = order_of_paper(near);
  if (d > most_ordered_dimensions) return of_paper;
  Places places(near, axes);
  const auto sets = static_cast<std::size_t>(d) << (d - 1);
  if (places.looked_at() > most_places / sets) return of_paper;
  const Search search(places, d);
  return search.volume(of_paper) == search.volume() ? of_paper : search.order();
}

}  // namespace tonari
