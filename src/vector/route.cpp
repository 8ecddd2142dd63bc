// SPDX-License-Identifier: BSD-3-Clause
#include "vector/route.hpp"

#include "base/error.hpp"
#include "base/setting_table.hpp"
#include "planners/registry.hpp"
#include "vector/route_scheme.hpp"

namespace tonari {
std::string read_route_name(const std::string& name) {
  const std::string current = current_name(name);
  if (current == "direct" || current == "node" || current == "auto" ||
      mesh_dimensions(current) > 0 || scheme_of(current))
    return current;
  refuse_value(setting("TONARI_ROUTE"), name);
}

VectorRoute VectorRoute::topology(int ranks, int dimensions) {
  VectorRoute route(text(mesh_prefix, dimensions));
  if (dimensions < 1 || dimensions > most_dimensions(ranks))
    fail(Errc::argument, "tonari_route (TONARI_ROUTE) is ", route.name_, ", but ", ranks,
         ranks == 1 ? " rank has" : " ranks have", " virtual topologies of 1 to ",
         most_dimensions(ranks), " dimensions only");
  route.mesh_.emplace(ranks, virtual_topology(ranks, dimensions));
  return route;
}

VectorRoute VectorRoute::node(const Context& context) {
  VectorRoute route("node");
  route.node_of_ = context.shared().node_of();
  route.here_ = context.node()->ranks();
  return route;
}

VectorRoute VectorRoute::planned(std::string name, int stages,
                                 std::unordered_map<std::int64_t, ValueArrival> arrivals,
                                 SeparateValues separate) {
  VectorRoute route(std::move(name));
  route.planned_stages_ = stages;
  route.arrivals_ = std::move(arrivals);
  route.separate_ = separate;
  return route;
}

VectorRoute VectorRoute::named(const std::string& name, const Context& context) {
  if (name == "direct") return direct();
  if (name == "node") return node(context);
  return topology(context.ranks(), mesh_dimensions(name));
}

int VectorRoute::stages() const {
  if (separate_) return planned_stages_;
  if (mesh_) return static_cast<int>(mesh_->dimensions());
  return node_of_.empty() ? 1 : 2;
}

std::int32_t VectorRoute::next(std::int32_t at, std::int32_t owner, std::int64_t index,
                               int stage) const {
  if (separate_) {
    const auto found = arrivals_.find(index);
    // requests travel the other way round
    const bool now = found != arrivals_.end() && found->second.stage == planned_stages_ - 1 - stage;
    return now ? found->second.from : at;
  }
  if (mesh_) return mesh_->next(at, owner, static_cast<std::size_t>(stage));
  if (node_of_.empty() || stage == 1 || node_of_[at] == node_of_[owner]) return owner;
  return here_[static_cast<std::size_t>(owner) % here_.size()];
}

}  // namespace tonari
