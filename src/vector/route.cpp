// SPDX-License-Identifier: BSD-3-Clause
#include "vector/route.hpp"

#include "base/error.hpp"
#include "base/setting_table.hpp"
#include "planners/registry.hpp"

namespace tonari {
std::string read_route_name(const std::string& name) {
  const std::string current = current_name(name);
  if (current == "direct" || current == "node" || current == "auto" || mesh_dimensions(current) > 0)
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

VectorRoute VectorRoute::named(const std::string& name, const Context& context) {
  if (name == "direct") return direct();
  if (name == "node") return node(context);
  return topology(context.ranks(), mesh_dimensions(name));
}

std::int32_t VectorRoute::next(std::int32_t at, std::int32_t owner, int stage) const {
  if (mesh_) return mesh_->next(at, owner, static_cast<std::size_t>(stage));
  if (node_of_.empty() || stage == 1 || node_of_[at] == node_of_[owner]) return owner;
  return here_[static_cast<std::size_t>(owner) % here_.size()];
}

}  // namespace tonari
