// SPDX-License-Identifier: BSD-3-Clause
// What all neighborhoods, vectors, grids and in-place exchanges on one communicator of the program
// share. Communicators are scarce (MPICH has 2,048), so all use one duplicate, and tags tell which
// messages belong to what. The duplicate lives as long as the program's communicator or one of its
// users.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "channels/connect.hpp"
#include "channels/control_tags.hpp"
#include "channels/onesided/window.hpp"
#include "cost/loggp.hpp"
#include "engine/comm/family_objects.hpp"
#include "engine/comm/read_topology.hpp"
#include "engine/comm/report.hpp"
#include "mpi/owned_comm.hpp"
#include "planners/graphs/bsp_comm.hpp"

namespace tonari {

class Context;

// The ranks of a communicator on their nodes.
struct NodeMap {
  NodeMembers members;               // of the calling rank's node
  std::shared_ptr<const Node> node;  // those of them that can share memory
  // Whether any node has several ranks, and whether processes may read each other's memory on all
  // such nodes; whether ranks outnumber cores on any. The same on all ranks.
  bool shares_memory = false, reads_memory = false, several_nodes = false, any_crowded = false;
  std::size_t ranks_per_core = 1;  // the most that take turns on one, likewise
};

class SharedComm {
 public:
  // Collective at the first call for a communicator, and the same object from then on. `comm` may
  // also be a duplicate that such an object made for itself. Throws Errc::mpi on all ranks if the
  // MPI refuses a duplicate.
  static std::shared_ptr<SharedComm> of(MPI_Comm comm);
  // For of().
  explicit SharedComm(std::shared_ptr<const OwnedComm> comm);
  ~SharedComm();
  SharedComm(const SharedComm&) = delete;
  SharedComm& operator=(const SharedComm&) = delete;

  // For collective calls, and for messages with control tags.
  MPI_Comm comm() const { return comm_->get(); }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  // Whether the report tells of it, the same on all ranks, and whether this rank records what is
  // done (engine/comm/report.hpp).
  bool reports() const { return joined_.reports; }
  bool records() const { return joined_.records; }

  // For the messages of exchanges. Where it has no tags left, another duplicate replaces it for new
  // exchanges.
  const std::shared_ptr<const OwnedComm>& exchanges() const { return exchanges_; }
  // Makes sure that `count` tags from first_tag() on belong to no other exchange; trials may use
  // them until take_tags. Collective, in the same order on all ranks. Throws Errc::overflow if no
  // communicator has that many, and Errc::mpi if there is no other communicator.
  void reserve_tags(std::size_t count);
  bool lacks_tags(std::size_t count) const {  // then ranks meet for that
    return next_tag_ + static_cast<std::int64_t>(count) - 1 > most_tag_;
  }
  int first_tag() const { return static_cast<int>(next_tag_); }
  void take_tags(std::size_t count) { next_tag_ += static_cast<std::int64_t>(count); }

  // Collective: one more duplicate.
  std::shared_ptr<const OwnedComm> another() const;

  // For planning together, one user at a time.
  BspComm& bsp();

  FamilyObjects& families() { return families_; }
  // For those who connect its ranks.
  ConnectComm connect_comm(const NodeMap& nodes);

  // Collective.
  Windows& windows();
  // Collective: where the program has freed its communicator, frees the windows that nobody uses.
  void trim_windows();

  // What is known of this machine, and under which name. Collective at the first call each.
  const std::string& machine_key();
  const LogGP& machine();

  // The nodes as update_nodes last found them.
  const std::shared_ptr<const NodeMap>& nodes() const { return nodes_; }
  // Finds the nodes again if TONARI_NODES has changed, and forgets the machine if variables that
  // tune the MPI have. Collective, together on comm(). Throws Errc::mismatch on all ranks if
  // TONARI_NODES differs between ranks.
  void update_nodes();
  // The same in parts, for calls that agree on something anyway. What each rank brings; local, and
  // throws if TONARI_NODES, which is given, makes no sense.
  struct Surroundings {
    std::string nodes;  // TONARI_NODES; the same on all ranks, or that is an error
    NodeMembers emulated;
    bool other_tuning = false;
  };
  Surroundings read_surroundings(std::string nodes = nodes_in_environment()) const;
  // Tells whether ranks will look for their nodes again, which is collective; the same on all ranks
  // that have agreed on them.
  bool looks_again(const Surroundings& now) const { return now.nodes != nodes_text_; }
  // Collective, together; local if they do not look again. other_tuning: of any rank.
  void adopt(Surroundings now, bool other_tuning);
  // A number for every rank, equal for those of one node; empty if there is one node. Collective at
  // the first call.
  const std::vector<std::int32_t>& node_of();

  // Of exchanges between all its ranks (context_on).
  std::weak_ptr<Context> context;

 private:
  friend int leave_shared_comm(MPI_Comm, int, void* value, void*);
  void open(MPI_Comm of, OwnedComm& copy);
  void read_communicator();
  void look_at_nodes(std::string text, NodeMembers emulated);
  JoinedReport keep_nodes(std::string text, RankNode found, const std::optional<Error>& mine,
                          const ReportOffer& report);

  std::shared_ptr<const OwnedComm> comm_, exchanges_;
  int rank_ = 0, ranks_ = 0;
  std::int64_t next_tag_ = first_exchange_tag, most_tag_ = 32767;  // what MPI promises at least
  std::unique_ptr<BspComm> bsp_;
  FamilyObjects families_;
  std::optional<Windows> windows_;
  std::string nodes_text_;  // TONARI_NODES, when nodes_ was learned
  bool fresh_ = true;       // by the call that is under way
  std::shared_ptr<const NodeMap> nodes_;
  std::vector<std::int32_t> node_of_;
  std::string machine_key_;
  std::uint64_t tuning_ = 0;            // of the variables that it holds for
  std::optional<LogGP> named_machine_;  // on rank 0: of a machine file
  std::optional<LogGP> machine_;        // with the ranks per core of nodes_
  bool attached_ = true;                // the program has not freed its communicator
  JoinedReport joined_;
};

}  // namespace tonari
