#include "engine/context.hpp"

#include "channels/mpi_error.hpp"
#include "engine/agree.hpp"
#include "engine/calibrate.hpp"
#include "engine/mpi_world.hpp"
#include "engine/strict_repertoire.hpp"
#include "graphs/mirror.hpp"
#include "memory/process.hpp"
#include "select/graph_repertoire.hpp"
#include "select/routed_repertoire.hpp"

namespace tonari {

namespace {

std::shared_ptr<const OwnedComm> duplicate(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
  return std::make_shared<const OwnedComm>(copy);
}

}  // namespace

Context::Context(MPI_Comm comm, std::shared_ptr<const Neighborhood> near, Settings settings)
    : comm_(duplicate(comm)), settings_(std::move(settings)) {
  look_around();
  windows_ = WindowPool::of(comm);
  meet_node(read_node(comm_->get()));
  place_ = place_in(near, rank_);
  repertoire_ = as_promised(std::make_unique<RoutedRepertoire>(std::move(near)));
}

Context::Context(MPI_Comm comm, TopologyLists lists, Settings settings)
    : comm_(duplicate(comm)), planning_comm_(duplicate(comm)), settings_(std::move(settings)) {
  look_around();
  world_ = std::make_unique<MpiWorld>(planning_comm_->get());
  windows_ = WindowPool::of(comm);
  const RankNode node = read_node(comm_->get());
  meet_node(node);
  Vertex vertex{rank_, std::move(lists.targets), std::move(lists.sources), std::move(lists.origins), node.members.node, node.members.ranks};
  agree(comm_->get(), mirror(*world_, std::span(&vertex, 1)));
  std::vector<Isomorphism> isomorphism;
  if (lists.grid) isomorphism = find_isomorphism(*world_, *lists.grid, std::span(&vertex, 1));
  if (isomorphism.empty()) {
    place_ = place_in_graph(*world_, std::move(vertex));
    repertoire_ = as_promised(std::make_unique<GraphRepertoire>(*world_, place_.vertex, place_.facts, [this] { return machine(); }));
    return;
  }
  auto near = std::make_shared<const Neighborhood>(Neighborhood{*lists.grid, isomorphism.front().offsets});
  place_ = place_in(near, std::move(vertex), std::move(isomorphism.front()));
  repertoire_ = as_promised(std::make_unique<RoutedRepertoire>(std::move(near)));
}

Context::Context(MPI_Comm comm) : comm_(duplicate(comm)) {
  look_around();
  meet_node(read_node(comm_->get()));
  if (!several_nodes_) return;
  const std::int32_t first = node_->ranks().front();
  node_of_.resize(static_cast<std::size_t>(ranks_));
  check_mpi(MPI_Allgather(&first, 1, MPI_INT32_T, node_of_.data(), 1, MPI_INT32_T, comm_->get()), "MPI_Allgather");
}

void Context::trim_windows() {
  if (windows_->empty() || windows_->attached()) return;  // the next neighbourhood can use them
  agree(comm(), {});  // while it waits, exchanges go on that others may wait for
  windows_->trim();
}

void Context::look_around() {
  watch_forks();  // all that a child must leave alone hangs on some context
  MPI_Comm_rank(comm_->get(), &rank_);
  MPI_Comm_size(comm_->get(), &ranks_);
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);  // attached to no other communicator
  if (found) most_tag_ = *static_cast<int*>(value);
}

void Context::meet_node(const RankNode& found) {
  node_ = found.node;
  const bool several = node_->ranks().size() > 1;
  const bool elsewhere = node_->ranks().size() < static_cast<std::size_t>(ranks_);
  int words[] = {several, several && !node_->reads_memory(), elsewhere};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, words, 3, MPI_INT, MPI_MAX, comm_->get()), "MPI_Allreduce");
  shares_memory_ = words[0];
  reads_memory_ = words[0] && !words[1];
  several_nodes_ = words[2];
}

std::unique_ptr<Repertoire> Context::as_promised(std::unique_ptr<Repertoire> repertoire) {
  if (!settings_.strict_communication) return repertoire;
  return std::make_unique<StrictRepertoire>(std::move(repertoire), place_.vertex, [this] { return comm(); });
}

void Context::reserve_tags(std::size_t count) {
  const auto needed = static_cast<std::int64_t>(count);
  if (needed - 1 > most_tag_)
    fail(Errc::overflow, "the exchange needs ", count, " message tags, this MPI has ", most_tag_ + 1, "; choose an algorithm that combines messages");
  if (next_tag_ + needed - 1 <= most_tag_) return;
  comm_ = duplicate(comm_->get());  // exchanges that use the old one keep it
  next_tag_ = 0;
}

std::shared_ptr<ProgressThread> Context::progress_thread() {
  std::shared_ptr<ProgressThread> thread = progress_thread_.lock();
  if (!thread) progress_thread_ = thread = std::make_shared<ProgressThread>();
  return thread;
}

std::shared_ptr<const OwnedComm> Context::graph() {
  if (!graph_) graph_ = std::make_shared<const OwnedComm>(make_graph(comm_->get(), place_.vertex));
  return graph_;
}

const std::string& Context::machine_key() {
  if (machine_key_.empty()) machine_key_ = tonari::machine_key(comm_->get());
  return machine_key_;
}

const LogGP& Context::machine() {
  if (!machine_) machine_ = machine_parameters(comm_->get(), machine_key(), node_);
  return *machine_;
}

}  // namespace tonari
