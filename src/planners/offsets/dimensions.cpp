// SPDX-License-Identifier: BSD-3-Clause
#include "planners/offsets/dimensions.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "planners/offsets/dimension_order.hpp"

namespace tonari {
namespace {

// sums of one axis as a table: coordinate c has the steps table[c - low]
struct Table {
  std::int32_t low = 0;
  std::vector<std::vector<std::int32_t>> steps;
};

}  // namespace

Routing route_by_dimension(const Neighborhood& near, const std::vector<Axis>& axes,
                           const std::vector<int>& order) {
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

OffsetVariant variant_by_dimension(const char* algorithm, const char* variant,
                                   const std::vector<Coordinates>& coordinates,
                                   std::vector<Axis> axes, std::shared_ptr<const Neighborhood> near,
                                   Collective collective) {
  std::size_t rounds = 0, hops = 0;
  for (std::size_t j = 0; j < axes.size(); ++j) {
    rounds += axes[j].lengths.size();
    hops += axes[j].hops(coordinates[j]);
  }
  const std::string name = *variant ? std::to_string(rounds) + " " + variant : "";
  return OffsetVariant(algorithm, name, near, collective, rounds, hops,
                       [axes = std::move(axes), collective](const Neighborhood& n) {
                         return route_by_dimension(n, axes, dimension_order(n, axes, collective));
                       });
}

OffsetVariant variant_by_dimension(const char* algorithm, Axis (*axis)(const Coordinates&),
                                   std::shared_ptr<const Neighborhood> near,
                                   Collective collective) {
  const std::vector<Coordinates> coordinates = coordinates_by_dimension(*near);
  std::vector<Axis> axes;
  for (const Coordinates& c : coordinates) axes.push_back(axis(c));
  return variant_by_dimension(algorithm, "", coordinates, std::move(axes), std::move(near),
                              collective);
}

}  // namespace tonari
