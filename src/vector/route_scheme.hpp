// SPDX-License-Identifier: BSD-3-Clause
// Names of routes that are algorithms for graphs, perhaps with a variant: balanced/3 stages.
#pragma once

#include <optional>
#include <string>

#include "planners/graphs/graph_planner.hpp"

namespace tonari {

struct RouteScheme {
  const GraphPlanner* planner;
  std::string variant;  // empty: the best one that can be planned here
};

// None if it is another route. Throws Errc::argument if the variant cannot be right for any
// pattern.
std::optional<RouteScheme> scheme_of(const std::string& route);

}  // namespace tonari
