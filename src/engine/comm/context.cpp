// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/context.hpp"

#include "base/hash.hpp"
#include "channels/native/connect.hpp"
#include "engine/comm/strict_planner_registry.hpp"
#include "engine/wait/agree.hpp"
#include "planners/graphs/mirror.hpp"
#include "select/graph_planner_registry.hpp"
#include "select/offset_planner_registry.hpp"
#include "select/scheduled_registry.hpp"

namespace tonari {

Context::Context(std::shared_ptr<SharedComm> shared, std::shared_ptr<const PackedNeighborhood> near,
                 std::shared_ptr<const Settings> settings)
    : shared_(std::move(shared)),
      nodes_(shared_->nodes()),
      packed_(true),
      given_(std::move(near)),
      settings_(std::move(settings)) {}

// Threads may ask at the same time. Where memory is missing, nothing has changed.
void Context::unpack() const {
  const std::lock_guard lock(unpacking_);
  if (!packed_) return;
  auto near =
      std::make_shared<const Neighborhood>(Neighborhood{given_->grid, given_->offsets.list()});
  topology_ = topology_in(near, rank());
  planners_ = as_promised(std::make_unique<OffsetPlannerRegistry>(std::move(near)));
  packed_ = false;
}

Context::Context(std::shared_ptr<SharedComm> shared, TopologyLists lists,
                 std::shared_ptr<const Settings> settings)
    : shared_(std::move(shared)), nodes_(shared_->nodes()), settings_(std::move(settings)) {
  BspComm& bsp = shared_->bsp();
  bsp.run_collectively([&] {
    Vertex vertex{rank(),
                  std::move(lists.targets),
                  std::move(lists.sources),
                  std::move(lists.origins),
                  nodes_->members.node,
                  nodes_->members.ranks};
    agree(comm(), mirror(bsp, std::span(&vertex, 1)));
    examine(bsp, std::span(&vertex, 1), lists.grid);
  });
}

Context::Context(std::shared_ptr<SharedComm> shared, std::vector<Vertex> all,
                 const std::optional<Grid>& grid, std::shared_ptr<const Settings> settings)
    : shared_(std::move(shared)),
      nodes_(shared_->nodes()),
      together_(new Together{LocalBspComm(ranks()), std::move(all)}),
      settings_(std::move(settings)) {
  if (const std::optional<Error> error = mirror(together_->bsp, together_->vertices))
    throw *error;  // it is the same on all ranks
  examine(together_->bsp, together_->vertices, grid);
}

// Collective over `bsp`: finds out what the graph is.
void Context::examine(BspComm& bsp, std::span<const Vertex> vertices,
                      const std::optional<Grid>& grid) {
  const std::size_t k = together_ ? static_cast<std::size_t>(rank()) : 0;
  std::vector<Isomorphism> isomorphisms;
  if (grid) isomorphisms = find_isomorphism(bsp, *grid, vertices);
  if (isomorphisms.empty()) {
    topology_ = topology_in_graph(bsp, vertices, k);
    planners_ = as_promised(std::make_unique<GraphPlannerRegistry>(
        bsp, together_ ? vertices : std::span(&topology_.vertex, 1), topology_.facts,
        [this] { return machine(); }));
    return;
  }
  auto near = std::make_shared<const Neighborhood>(Neighborhood{*grid, isomorphisms[k].offsets});
  topology_ = topology_in(near, vertices[k], std::move(isomorphisms[k]));
  planners_ = as_promised(std::make_unique<OffsetPlannerRegistry>(std::move(near)));
}

// Planners look at the vertex and at the facts.
void Context::promise(ExactSizes sizes) {
  topology_.vertex.bytes.assign(sizes.edges.send.begin(), sizes.edges.send.end());
  topology_.facts.sized = true;
  exact_sizes_ = std::make_unique<ExactSizes>(std::move(sizes));
}

// What is remembered of this pattern holds for this schedule alone.
void Context::follow(OwnSchedule schedule) {
  topology_.fingerprint = Hash().word(topology_.fingerprint).word(schedule.fingerprint).value();
  planners_ = as_promised(std::make_unique<ScheduledRegistry>(
      std::move(planners_), shared_->bsp(), topology_.vertex, std::move(schedule)));
}

Context::Context(std::shared_ptr<SharedComm> shared)
    : shared_(std::move(shared)),
      nodes_(shared_->nodes()),
      settings_(std::make_shared<const Settings>()) {}

std::unique_ptr<PlannerRegistry> Context::as_promised(
    std::unique_ptr<PlannerRegistry> planners) const {
  if (!settings_->strict_communication) return planners;
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

std::shared_ptr<Context> context_on(const std::shared_ptr<SharedComm>& shared) {
  std::shared_ptr<Context> context = shared->context.lock();
  if (!context) shared->context = context = std::make_shared<Context>(shared);
  return context;
}

}  // namespace tonari
