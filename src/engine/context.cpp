#include "engine/context.hpp"

#include "engine/agree.hpp"
#include "engine/calibrate.hpp"
#include "engine/strict_repertoire.hpp"
#include "graphs/mirror.hpp"
#include "select/graph_repertoire.hpp"
#include "select/routed_repertoire.hpp"

namespace tonari {

Context::Context(std::shared_ptr<SharedComm> shared, std::shared_ptr<const Neighborhood> near, Settings settings)
    : shared_(std::move(shared)), nodes_(shared_->nodes()), settings_(std::move(settings)) {
  place_ = place_in(near, rank());
  repertoire_ = as_promised(std::make_unique<RoutedRepertoire>(std::move(near)));
}

Context::Context(std::shared_ptr<SharedComm> shared, TopologyLists lists, Settings settings)
    : shared_(std::move(shared)), nodes_(shared_->nodes()), settings_(std::move(settings)) {
  World& world = shared_->world();
  Vertex vertex{rank(), std::move(lists.targets), std::move(lists.sources), std::move(lists.origins), nodes_->members.node, nodes_->members.ranks};
  agree(comm(), mirror(world, std::span(&vertex, 1)));
  std::vector<Isomorphism> isomorphism;
  if (lists.grid) isomorphism = find_isomorphism(world, *lists.grid, std::span(&vertex, 1));
  if (isomorphism.empty()) {
    place_ = place_in_graph(world, std::move(vertex));
    repertoire_ = as_promised(std::make_unique<GraphRepertoire>(world, place_.vertex, place_.facts, [this] { return machine(); }));
    return;
  }
  auto near = std::make_shared<const Neighborhood>(Neighborhood{*lists.grid, isomorphism.front().offsets});
  place_ = place_in(near, std::move(vertex), std::move(isomorphism.front()));
  repertoire_ = as_promised(std::make_unique<RoutedRepertoire>(std::move(near)));
}

Context::Context(std::shared_ptr<SharedComm> shared) : shared_(std::move(shared)), nodes_(shared_->nodes()) {}

std::unique_ptr<Repertoire> Context::as_promised(std::unique_ptr<Repertoire> repertoire) {
  if (!settings_.strict_communication) return repertoire;
  return std::make_unique<StrictRepertoire>(std::move(repertoire), place_.vertex, comm());
}

std::shared_ptr<ProgressThread> Context::progress_thread() {
  std::shared_ptr<ProgressThread> thread = progress_thread_.lock();
  if (!thread) progress_thread_ = thread = std::make_shared<ProgressThread>();
  return thread;
}

std::shared_ptr<const OwnedComm> Context::make_graph() const {
  std::shared_ptr<const OwnedComm> made;
  together(comm(), [&] { made = std::make_shared<const OwnedComm>(tonari::make_graph(comm(), place_.vertex)); });
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

const std::string& Context::machine_key() {
  if (machine_key_.empty()) machine_key_ = tonari::machine_key(comm());
  return machine_key_;
}

const LogGP& Context::machine() {
  if (!machine_) machine_ = machine_parameters(comm(), machine_key(), node());
  return *machine_;
}

}  // namespace tonari
