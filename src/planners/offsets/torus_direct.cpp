// torus-direct (paper 000, §5): along each dimension straight to the coordinate; a round for every
// distinct coordinate, and a block is sent once for each of its non-zero coordinates.
#include "planners/offsets/dimensions.hpp"

namespace tonari {
namespace {

std::string applicable(const Neighborhood&, Collective) { return ""; }

std::vector<Schedule> schedules(std::shared_ptr<const Neighborhood> near, Collective collective) {
  return {schedule_by_dimension("torus-direct", direct_axis, std::move(near), collective)};
}

}  // namespace

const OffsetPlanner offset_torus_direct{"torus-direct", applicable, schedules};

}  // namespace tonari
