// SPDX-License-Identifier: BSD-3-Clause
// additive-basis (Träff 2016, §5): along each dimension a small set of lengths whose sums reach all
// coordinates. {1, 2, -3} serves a stencil of radius 3 in 3 rounds where torus and torus-direct
// need 6. Blocks travel once per summand, so rounds are traded against volume: the variants run
// from the fewest rounds towards torus-direct, always giving up the rounds that save the most
// volume.
#include <algorithm>

#include "planners/offsets/basis.hpp"
#include "planners/offsets/dimensions.hpp"

namespace tonari {
namespace {

std::string applicable(const Neighborhood&, Collective) { return ""; }

std::string pays(const Neighborhood& near, Collective) {
  for (const Coordinates& coordinates : coordinates_by_dimension(near))
    if (coordinates.size() > 2) return "";
  return "no dimension has more than two distinct coordinates, so nothing is saved over "
         "torus-direct";
}

struct Dimension {
  Coordinates coordinates;
  std::vector<Axis> front;
  std::size_t chosen = 0;

  const Axis& axis() const { return front[chosen]; }
  // Hops saved per extra round by the best later point of the front, and that point.
  double gain(std::size_t& best) const {
    double most = 0;
    for (std::size_t k = chosen + 1; k < front.size(); ++k) {
      const double saved =
          static_cast<double>(axis().hops(coordinates) - front[k].hops(coordinates)) /
          static_cast<double>(front[k].lengths.size() - axis().lengths.size());
      if (saved > most) most = saved, best = k;
    }
    return most;
  }
};

std::vector<Dimension> dimensions(const Neighborhood& near) {
  std::vector<Dimension> all;
  std::vector<Coordinates> by_dimension = coordinates_by_dimension(near);
  for (int j = 0; j < near.grid.dimensions(); ++j) {
    Coordinates& coordinates = by_dimension[j];
    const SumRule rule{near.grid.periodic(j) ? near.grid.size(j) : 0, !near.grid.periodic(j)};
    std::vector<Axis> points = front(coordinates, rule);
    all.push_back({std::move(coordinates), std::move(points)});
  }
  return all;
}

bool advance(std::vector<Dimension>& all) {
  Dimension* where = nullptr;
  std::size_t to = 0;
  double most = 0;
  for (Dimension& dimension : all) {
    std::size_t k = 0;
    if (const double gain = dimension.gain(k); gain > most) most = gain, where = &dimension, to = k;
  }
  if (where) where->chosen = to;
  return where != nullptr;
}

OffsetVariant schedule(const std::vector<Dimension>& all, std::shared_ptr<const Neighborhood> near,
                       Collective collective) {
  std::vector<Coordinates> coordinates;
  std::vector<Axis> axes;
  for (const Dimension& dimension : all)
    coordinates.push_back(dimension.coordinates), axes.push_back(dimension.axis());
  return variant_by_dimension("additive-basis", "rounds", coordinates, std::move(axes),
                              std::move(near), collective);
}

std::vector<OffsetVariant> variants(std::shared_ptr<const Neighborhood> near,
                                    Collective collective) {
  std::vector<Dimension> all = dimensions(*near);
  std::vector<OffsetVariant> variants{schedule(all, near, collective)};
  while (advance(all)) variants.push_back(schedule(all, near, collective));
  const bool ends_direct = std::all_of(all.begin(), all.end(), [](const Dimension& d) {
    return d.axis().lengths.size() == d.coordinates.size();
  });
  if (ends_direct && variants.size() > 1) variants.pop_back();  // that one is torus-direct
  return variants;
}

}  // namespace

const OffsetPlanner offset_additive_basis{"additive-basis", applicable, variants, pays};

}  // namespace tonari
