// SPDX-License-Identifier: BSD-3-Clause
#include "vector/route_scheme.hpp"

#include "base/error.hpp"
#include "planners/patterns/balance_name.hpp"

namespace tonari {

std::optional<RouteScheme> scheme_of(const std::string& route) {
  for (const GraphPlanner* const planner : {&graph_balanced, &graph_message_sharing}) {
    const std::string name = planner->name;
    if (route == name) return RouteScheme{planner, ""};
    if (!route.starts_with(name + "/")) continue;
    RouteScheme scheme{planner, route.substr(name.size() + 1)};
    if (planner == &graph_balanced && names_a_balance(scheme.variant))
      if (const auto wrong = error_of([&] { (void)balance_named(scheme.variant); }))
        fail(Errc::argument, "tonari_route (TONARI_ROUTE): ", wrong->what());
    return scheme;
  }
  return std::nullopt;
}

}  // namespace tonari
