// torus-direct (paper 000, §5): along each dimension straight to the coordinate; a round for every distinct coordinate, and a block is sent
// once for each of its non-zero coordinates.
#include "planners/algorithm.hpp"
#include "planners/dimensions.hpp"

namespace tonari {
namespace {

std::string applicable(const Neighborhood&, Collective) { return ""; }

Axis axis(const Coordinates& coordinates) {
  Axis axis;
  for (const auto& [c, blocks] : coordinates) {
    axis.sums[c] = {static_cast<std::int32_t>(axis.lengths.size())};
    axis.lengths.push_back(c);
  }
  return axis;
}

std::vector<Schedule> schedules(std::shared_ptr<const Neighborhood> near, Collective collective) {
  const std::vector<Coordinates> coordinates = coordinates_by_dimension(*near);
  std::vector<Axis> axes;
  for (const Coordinates& c : coordinates) axes.push_back(axis(c));
  const Extent sum = extent(axes, coordinates);
  return {Schedule("torus-direct", "", near, collective, sum.rounds, sum.hops, [axes, collective](const Neighborhood& n) {
    return route_by_dimension(n, axes, dimension_order(n, collective));
  })};
}

}  // namespace

const Algorithm torus_direct_algorithm{"torus-direct", "straight along each dimension in turn (Traff et al., section 5)", applicable,
                                       schedules};

}  // namespace tonari
