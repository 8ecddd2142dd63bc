// SPDX-License-Identifier: BSD-3-Clause
#include "engine/context.hpp"

#include "engine/agree.hpp"
#include "engine/strict_planner_registry.hpp"
#include "planners/graphs/mirror.hpp"
#include "select/graph_planner_registry.hpp"
#include "select/offset_planner_registry.hpp"

namespace tonari {

Context::Context(std::shared_ptr<SharedComm> shared, std::shared_ptr<const Neighborhood> near,
                 Settings settings)
    : shared_(std::move(shared)), nodes_(shared_->nodes()), settings_(std::move(settings)) {
  topology_ = topology_in(near, rank());
  planners_ = as_promised(std::make_unique<OffsetPlannerRegistry>(std::move(near)));
}

Context::Context(std::shared_ptr<SharedComm> shared, TopologyLists lists, Settings settings)
    : shared_(std::move(shared)), nodes_(shared_->nodes()), settings_(std::move(settings)) {
  shared_->group().run_collectively([&] {
    examine(lists, {rank(), std::move(lists.targets), std::move(lists.sources),
                    std::move(lists.origins), nodes_->members.node, nodes_->members.ranks});
  });
}

// Collective, together in the group: checks the graph, and finds out what it is.
void Context::examine(const TopologyLists& lists, Vertex vertex) {
  RankGroup& group = shared_->group();
  agree(comm(), mirror(group, std::span(&vertex, 1)));
  std::vector<Isomorphism> isomorphism;
  if (lists.grid) isomorphism = find_isomorphism(group, *lists.grid, std::span(&vertex, 1));
  if (isomorphism.empty()) {
    topology_ = topology_in_graph(group, std::move(vertex));
    planners_ = as_promised(std::make_unique<GraphPlannerRegistry>(
        group, topology_.vertex, topology_.facts, [this] { return machine(); }));
    return;
  }
  auto near =
      std::make_shared<const Neighborhood>(Neighborhood{*lists.grid, isomorphism.front().offsets});
  topology_ = topology_in(near, std::move(vertex), std::move(isomorphism.front()));
  planners_ = as_promised(std::make_unique<OffsetPlannerRegistry>(std::move(near)));
}

// Planners look at the vertex and at the facts.
void Context::promise(ExactSizes sizes) {
  topology_.vertex.bytes.assign(sizes.edges.send.begin(), sizes.edges.send.end());
  topology_.facts.sized = true;
  exact_sizes_ = std::make_unique<ExactSizes>(std::move(sizes));
}

Context::Context(std::shared_ptr<SharedComm> shared)
    : shared_(std::move(shared)), nodes_(shared_->nodes()) {}

std::unique_ptr<PlannerRegistry> Context::as_promised(std::unique_ptr<PlannerRegistry> planners) {
  if (!settings_.strict_communication) return planners;
  return std::make_unique<StrictPlannerRegistry>(std::move(planners), topology_.vertex, comm());
}

std::shared_ptr<ProgressThread> Context::progress_thread() {
  std::shared_ptr<ProgressThread> thread = progress_thread_.lock();
  if (!thread) progress_thread_ = thread = std::make_shared<ProgressThread>();
  return thread;
}

std::shared_ptr<const OwnedComm> Context::make_graph() const {
  const auto made = std::make_shared<OwnedComm>();
  const GraphLists lists(topology_.vertex);
  stay_together(comm());
  agree(comm(), error_of([&] { tonari::make_graph(comm(), lists, *made); }));
  return made;
}

std::shared_ptr<const OwnedComm> Context::graph_for_trial() {
  if (graph_) return graph_;
  if (!trial_graph_) trial_graph_ = make_graph();
  return trial_graph_;
}

std::shared_ptr<const OwnedComm> Context::graph_for_request() {
  if (!has_persistent_neighborhood_collectives()) return make_graph();
  if (!graph_) graph_ = make_graph();
  return graph_;
}

}  // namespace tonari
