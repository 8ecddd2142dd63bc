// What the requests on one neighbourhood share: the communicator, the description of the neighbourhood, tags, and what was learnt of the machine.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "channels/node.hpp"
#include "channels/owned_comm.hpp"
#include "channels/window.hpp"
#include "cost/loggp.hpp"
#include "engine/exact_sizes.hpp"
#include "engine/place.hpp"
#include "engine/progress.hpp"
#include "engine/read_topology.hpp"
#include "select/candidates.hpp"

namespace tonari {

class Context {
 public:
  // Collective; duplicates comm. near and settings must be the same on all ranks.
  Context(MPI_Comm comm, std::shared_ptr<const Neighborhood> near, Settings settings);
  // Collective; duplicates comm. lists: this rank's neighbours, checked here against those of the other ranks: throws the same error on all ranks if they do
  // not mirror each other. With a grid a graph that is isomorphic is recognised.
  Context(MPI_Comm comm, TopologyLists lists, Settings settings);
  // Collective; duplicates comm. For exchanges between all ranks, without a neighbourhood.
  explicit Context(MPI_Comm comm);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  MPI_Comm comm() const { return comm_->get(); }
  const std::shared_ptr<const OwnedComm>& shared_comm() const { return comm_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  const Place& place() const { return place_; }
  const Vertex& vertex() const { return place_.vertex; }
  Repertoire& repertoire() { return *repertoire_; }
  const Settings& settings() const { return settings_; }
  World* world() { return world_.get(); }  // null if made from offsets

  // Null: no sizes were promised.
  ExactSizes* exact_sizes() { return exact_sizes_.get(); }
  void promise(ExactSizes sizes) { exact_sizes_ = std::make_unique<ExactSizes>(std::move(sizes)); }

  // Makes sure that `count` tags from first_tag() on belong to no other exchange; where the communicator has none left, a duplicate takes its place.
  // Collective, in the same order on all ranks. They are free for trials until take_tags. Throws Errc::overflow if no communicator has so many.
  void reserve_tags(std::size_t count);
  int first_tag() const { return static_cast<int>(next_tag_); }
  void take_tags(std::size_t count) { next_tag_ += static_cast<std::int64_t>(count); }

  // The thread that drives exchanges of this neighbourhood; it lives as long as someone holds it. Not collective.
  std::shared_ptr<ProgressThread> progress_thread();

  // Collective at the first call each.
  std::shared_ptr<const OwnedComm> graph();
  const std::string& machine_key();
  const LogGP& machine();

  // Collective.
  Windows& windows() { return windows_->windows(comm()); }
  void trim_windows();  // frees those that nobody will ask for again

  const std::shared_ptr<const Node>& node() const { return node_; }
  // Whether any node has several ranks, and whether on all nodes that have, processes may read each other's memory; the same on all ranks.
  bool shares_memory() const { return shares_memory_; }
  bool reads_memory() const { return reads_memory_; }
  bool several_nodes() const { return several_nodes_; }
  // Of every rank a number, equal for those of one node; empty if there is one node. Only without a neighbourhood.
  const std::vector<std::int32_t>& node_of() const { return node_of_; }

 private:
  void look_around();
  void meet_node(const RankNode& found);
  std::unique_ptr<Repertoire> as_promised(std::unique_ptr<Repertoire> repertoire);

  std::shared_ptr<const OwnedComm> comm_;
  int rank_ = 0, ranks_ = 0;
  std::shared_ptr<const OwnedComm> planning_comm_;  // of world_
  std::unique_ptr<World> world_;                    // only on graphs
  Place place_;
  std::unique_ptr<Repertoire> repertoire_;
  std::unique_ptr<ExactSizes> exact_sizes_;
  std::weak_ptr<ProgressThread> progress_thread_;
  Settings settings_;
  std::int64_t next_tag_ = 0, most_tag_ = 32767;  // what MPI promises at least
  std::shared_ptr<const OwnedComm> graph_;
  std::shared_ptr<const Node> node_;
  bool shares_memory_ = false, reads_memory_ = false, several_nodes_ = false;
  std::vector<std::int32_t> node_of_;
  std::shared_ptr<WindowPool> windows_;
  std::string machine_key_;
  std::optional<LogGP> machine_;
};

}  // namespace tonari
