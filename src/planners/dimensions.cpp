#include "planners/dimensions.hpp"

#include <algorithm>
#include <numeric>

namespace tonari {

std::vector<Coordinates> coordinates_by_dimension(const Neighborhood& near) {
  const int d = near.grid.dimensions();
  std::vector<std::vector<std::int32_t>> values(d);
  for (const Vec& offset : routable_offsets(near))
    for (int j = 0; j < d; ++j)
      if (offset[j] != 0) values[j].push_back(offset[j]);
  std::vector<Coordinates> all(d);
  for (int j = 0; j < d; ++j) {
    std::sort(values[j].begin(), values[j].end());
    for (auto from = values[j].begin(); from != values[j].end();) {
      const auto to = std::upper_bound(from, values[j].end(), *from);
      all[j].emplace_hint(all[j].end(), *from, to - from);
      from = to;
    }
  }
  return all;
}

std::size_t Axis::hops(const Coordinates& coordinates) const {
  std::size_t hops = 0;
  for (const auto& [c, blocks] : coordinates) hops += sums.at(c).size() * blocks;
  return hops;
}

std::vector<int> dimension_order(const Neighborhood& near, Collective collective) {
  std::vector<int> order(near.grid.dimensions());
  std::iota(order.begin(), order.end(), 0);
  if (collective == Collective::alltoall) return order;
  const std::vector<Coordinates> coordinates = coordinates_by_dimension(near);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return coordinates[a].size() < coordinates[b].size(); });
  return order;
}

namespace {

// sums of one axis as a table: coordinate c has the steps table[c - low]
struct Table {
  std::int32_t low = 0;
  std::vector<std::vector<std::int32_t>> steps;
};

}  // namespace

Routing route_by_dimension(const Neighborhood& near, const std::vector<Axis>& axes, const std::vector<int>& order) {
  Routing routing(near);
  std::vector<Table> tables(axes.size());
  for (int j : order) {
    std::vector<std::int32_t> step_of;
    for (std::int32_t length : axes[j].lengths) {
      Vec step;
      step[j] = length;
      step_of.push_back(routing.add_step(step));
    }
    if (axes[j].sums.empty()) continue;
    tables[j].low = axes[j].sums.begin()->first;
    tables[j].steps.resize(axes[j].sums.rbegin()->first - tables[j].low + 1);
    for (const auto& [c, sum] : axes[j].sums)
      for (std::int32_t index : sum) tables[j].steps[c - tables[j].low].push_back(step_of[index]);
  }
  for (const Vec& offset : routable_offsets(near)) {
    for (int j : order)
      if (offset[j] != 0)
        for (std::int32_t step : tables[j].steps[offset[j] - tables[j].low]) routing.hop(step);
    routing.end_path();
  }
  return routing;
}

Extent extent(const std::vector<Axis>& axes, const std::vector<Coordinates>& coordinates) {
  Extent sum;
  for (std::size_t j = 0; j < axes.size(); ++j) {
    sum.rounds += axes[j].lengths.size();
    sum.hops += axes[j].hops(coordinates[j]);
  }
  return sum;
}

}  // namespace tonari
