// SPDX-License-Identifier: BSD-3-Clause
// The order in which the dimension-wise algorithms visit dimensions. For all-to-all it does not
// matter. For allgather it decides how many blocks travel (W, Träff 2016, §3.2): a block goes once
// to every place that paths have in common.
#pragma once

#include <vector>

#include "planners/offsets/axis.hpp"

namespace tonari {

// All-to-all: as given. Allgather in up to five dimensions: an order with the least W of all, and
// the paper's if that has it. Beyond, or where more than most_places places would have to be
// counted: the paper's, which visits first the dimensions in which most neighbors share a
// coordinate, that is those with the fewest distinct ones. axes: one per dimension.
std::vector<int> dimension_order(const Neighborhood& near, const std::vector<Axis>& axes,
                                 Collective collective);

inline constexpr int most_ordered_dimensions = 5;
inline constexpr std::size_t most_places = std::size_t{1} << 23;

}  // namespace tonari
