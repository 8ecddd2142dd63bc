// SPDX-License-Identifier: BSD-3-Clause
// torus-direct (Träff 2016, §5): along each dimension straight to the coordinate; a round for every
// distinct coordinate, and a block is sent once for each of its non-zero coordinates.
#include "planners/offsets/dimensions.hpp"

namespace tonari {
namespace {

std::string applicable(const Neighborhood&, Collective) { return ""; }

std::vector<OffsetVariant> variants(std::shared_ptr<const Neighborhood> near,
                                    Collective collective) {
  return {variant_by_dimension("torus-direct", direct_axis, std::move(near), collective)};
}

}  // namespace

const OffsetPlanner offset_torus_direct{"torus-direct", applicable, variants};

}  // namespace tonari
