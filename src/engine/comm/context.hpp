// SPDX-License-Identifier: BSD-3-Clause
// What the requests on one neighborhood share: its description, and what was learned of the
// machine. With others on the same communicator they share its duplicate, tags and windows.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cost/loggp.hpp"
#include "engine/comm/exact_sizes.hpp"
#include "engine/comm/local_topology.hpp"
#include "engine/comm/shared_comm.hpp"
#include "engine/wait/agree.hpp"
#include "engine/wait/progress.hpp"
#include "planners/graphs/local_bsp_comm.hpp"
#include "planners/patterns/schedule_file.hpp"
#include "select/candidates.hpp"
#include "topology/packed_offsets.hpp"

namespace tonari {

class Context {
 public:
  // Local. `near` and `settings` must be the same on all ranks. The offsets are unpacked, and ranks
  // found, for who first asks for the topology or the planners.
  Context(std::shared_ptr<SharedComm> shared, std::shared_ptr<const PackedNeighborhood> near,
          std::shared_ptr<const Settings> settings);
  // Collective. `lists` are this rank's neighbors. They are checked against those of the other
  // ranks: if they do not mirror each other, all ranks throw the same error. With a grid, it
  // recognizes an isomorphic graph.
  Context(std::shared_ptr<SharedComm> shared, TopologyLists lists,
          std::shared_ptr<const Settings> settings);
  // Local. The same where this rank knows `all` of the graph, by ranks: it plans for all of them.
  Context(std::shared_ptr<SharedComm> shared, std::vector<Vertex> all,
          const std::optional<Grid>& grid, std::shared_ptr<const Settings> settings);
  // Local. For exchanges between all ranks, without a neighborhood.
  explicit Context(std::shared_ptr<SharedComm> shared);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  SharedComm& shared() const { return *shared_; }
  const std::shared_ptr<SharedComm>& share() const { return shared_; }
  MPI_Comm comm() const { return shared_->comm(); }  // for collective steps
  const std::shared_ptr<const OwnedComm>& shared_comm() const { return shared_->exchanges(); }
  int rank() const { return shared_->rank(); }
  int ranks() const { return shared_->ranks(); }
  const LocalTopology& topology() const {
    if (packed_) unpack();
    return topology_;
  }
  const Vertex& vertex() const { return topology().vertex; }
  PlannerRegistry& planners() {
    if (packed_) unpack();
    return *planners_;
  }
  const Settings& settings() const { return *settings_; }
  // Collective, together: from now on there is the algorithm "schedule", which is this one of a
  // file. It was checked, and is the same on all ranks.
  void follow(OwnSchedule schedule);

  // Null if no sizes were promised.
  ExactSizes* exact_sizes() { return exact_sizes_.get(); }
  void promise(ExactSizes sizes);

  // As SharedComm says.
  void reserve_tags(std::size_t count) { shared_->reserve_tags(count); }
  int first_tag() const { return shared_->first_tag(); }
  void take_tags(std::size_t count) { shared_->take_tags(count); }

  // The thread that drives exchanges of this neighborhood; it lives as long as a holder. Not
  // collective.
  std::shared_ptr<ProgressThread> progress_thread();

  // A communicator with the neighborhood as a distributed graph, for MPI's own collectives.
  // Collective; throws Errc::mpi on all ranks if the MPI refuses one. Trials share one until it is
  // dropped. Requests share it, too, if the MPI has persistent neighborhood collectives. Otherwise
  // each has its own: calls on one match in their order, which may differ between ranks.
  // Those in a race do so, too: with other buffers they have no persistent form.
  std::shared_ptr<const OwnedComm> graph_for_trial();
  std::shared_ptr<const OwnedComm> graph_for_request();
  std::shared_ptr<const OwnedComm> graph_of_its_own() const { return make_graph(); }
  void drop_trial_graph() { trial_graph_.reset(); }

  // Collective at the first call each.
  const std::string& machine_key() { return shared_->machine_key(); }
  const LogGP& machine() { return shared_->machine(); }

  const NodeMap& nodes() const { return *nodes_; }
  const std::shared_ptr<const Node>& node() const { return nodes_->node; }
  bool shares_memory() const { return nodes_->shares_memory; }
  bool reads_memory() const { return nodes_->reads_memory; }
  bool several_nodes() const { return nodes_->several_nodes; }
  bool any_crowded() const { return nodes_->any_crowded; }

 private:
  struct Together {  // the ranks that plan in this process, where they are all
    LocalBspComm bsp;
    std::vector<Vertex> vertices;
  };
  void unpack() const;
  void examine(BspComm& bsp, std::span<const Vertex> vertices, const std::optional<Grid>& grid);
  std::unique_ptr<PlannerRegistry> as_promised(std::unique_ptr<PlannerRegistry> planners) const;
  std::shared_ptr<const OwnedComm> make_graph() const;

  std::shared_ptr<SharedComm> shared_;
  std::shared_ptr<const NodeMap> nodes_;  // as they were when this was made
  std::unique_ptr<Together> together_;
  mutable std::mutex unpacking_;
  mutable std::atomic<bool> packed_ = false;
  std::shared_ptr<const PackedNeighborhood> given_;
  mutable LocalTopology topology_;
  mutable std::unique_ptr<PlannerRegistry> planners_;
  std::unique_ptr<ExactSizes> exact_sizes_;
  std::weak_ptr<ProgressThread> progress_thread_;
  std::shared_ptr<const Settings> settings_;
  std::shared_ptr<const OwnedComm> graph_, trial_graph_;
};

// Local. For exchanges between all ranks; those on one communicator of the program share it as long
// as one of them lives.
std::shared_ptr<Context> context_on(const std::shared_ptr<SharedComm>& shared);

}  // namespace tonari
