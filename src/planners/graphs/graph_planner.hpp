// SPDX-License-Identifier: BSD-3-Clause
// A planner for graphs: what it may ask, and the variants that it makes.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cost/loggp.hpp"
#include "plan/variant.hpp"
#include "planners/graphs/bsp_comm.hpp"
#include "planners/graphs/relay.hpp"
#include "planners/graphs/volumes.hpp"

namespace tonari {

// The facts about the whole graph that all ranks know.
struct GraphFacts {
  int ranks = 0;
  int nodes = 0;
  int most_node_ranks = 0;    // on one node
  std::int64_t edges = 0;     // between different ranks, repeats included
  std::int64_t most_out = 0;  // distinct other ranks that one rank sends to
  std::int64_t most_in = 0;   // ... receives from
  std::int64_t pairs = 0;     // of different ranks, sender and receiver, each once
  bool sized = false;         // some rank knows the bytes of each of its blocks
  std::int64_t degree() const { return std::max(most_out, most_in); }
};

struct GraphTask {
  Collective collective = Collective::alltoall;
  // average size of a block; the same on all ranks. Where a vertex has sizes, these count.
  double block_bytes = 0;
  LogGP machine;  // the same on all ranks
  // The algorithm is asked for by name: it is planned wherever it is possible, whether or not it is
  // expected to pay.
  bool forced = false;
  // The variant that is asked for by name. Planners may take it for a wish that they fulfill only
  // then; whoever asks picks it from what they make. Empty: any.
  std::string variant = {};
  // What a block costs a rank that passes it on: it is copied in and out and crosses the network
  // once more.
  double forwarding() const { return block_bytes * forwarding_byte(); }
  double forwarding_byte() const { return machine.G + 2 * machine.copy_byte; }
};

// The same task on a machine on which messages are all that counts: neither distance nor bytes cost
// time. What is forced is planned for it where the real one asks for nothing.
GraphTask counting_messages(GraphTask task);

// The cost of a variant for all ranks together: the busiest rank counts.
struct Traffic {
  std::int64_t most_out = 0, most_in = 0;  // messages of the busiest sender, receiver
  std::int64_t messages = 0, blocks = 0;   // of all ranks
  std::int64_t most_blocks_out = 0, most_blocks_in = 0;
  std::int64_t stages = 0;  // the highest stage in use, plus one
  // Of these, what leads to other nodes; and in how many stages a rank has such messages.
  std::int64_t far_out = 0, far_in = 0;
  std::int64_t far_blocks_out = 0, far_blocks_in = 0;
  std::int64_t far_stages = 0;
};

struct GraphPlanner;

// A variant by hops, planned for the ranks of one process.
class GraphVariant final : public Variant {
 public:
  // relays: one per vertex, which must outlive this. ports: 1: a stage waits for the one before
  // (rounds); 0: as soon as the blocks are there.
  GraphVariant(const GraphPlanner& planner, std::string variant, std::span<const Vertex> vertices,
               const GraphTask& task, std::vector<Relay> relays, int ports = 0);

  Collective collective() const { return collective_; }
  const std::vector<Relay>& relays() const { return relays_; }  // one per vertex
  int ports() const { return ports_; }

  // Finds out what all ranks do together, which the functions below tell. Collective.
  void gather(BspComm& bsp);
  const Traffic& traffic() const { return traffic_; }
  // None if no rank knows the sizes of its blocks.
  const std::optional<Volumes>& volumes() const { return volumes_; }
  std::size_t rounds() const override;
  std::size_t messages() const override { return static_cast<std::size_t>(traffic_.most_out); }
  std::size_t hops() const override { return static_cast<std::size_t>(traffic_.most_blocks_out); }
  std::size_t tags() const override { return static_cast<std::size_t>(traffic_.stages); }
  std::uint64_t dedup_key() const override { return dedup_key_; }

  // The plan of one of the vertices.
  Plan plan(int rank, EmitOptions options = {}) const override;

 private:
  std::span<const Vertex> vertices_;
  Collective collective_;
  std::vector<Relay> relays_;
  int ports_;
  Traffic traffic_;
  std::optional<Volumes> volumes_;
  std::uint64_t dedup_key_ = 0;
};

// The planner of one algorithm; src/planners/registry.cpp lists them all.
struct GraphPlanner {
  const char* name;
  // Empty if the algorithm is possible, else the reason why not. Pure and cheap.
  std::string (*applicable)(const GraphFacts& facts, const GraphTask& task);
  // Collective. vertices: one per rank of bsp.here(), in that order. At least one variant; the
  // same variants on all ranks. Only called if applicable.
  std::vector<GraphVariant> (*variants)(BspComm& bsp, std::span<const Vertex> vertices,
                                        const GraphFacts& facts, const GraphTask& task);
  // Empty if the algorithm may pay, else the reason why it is not expected to. Pure and cheap, and
  // only called if applicable.
  std::string (*pays)(const GraphFacts& facts, const GraphTask& task) =
      [](const GraphFacts&, const GraphTask&) { return std::string(); };
};

// Why an algorithm is not planned, or planned against expectation.
struct Objection {
  std::string impossible;  // empty: it is possible
  std::string unpaying;    // empty: it is impossible, or may pay
  // Whether to plan it for the task: possible, and promising or forced.
  bool plans(const GraphTask& task) const {
    return impossible.empty() && (unpaying.empty() || task.forced);
  }
  const std::string& reason() const { return impossible.empty() ? unpaying : impossible; }
};
Objection objection(const GraphPlanner& planner, const GraphFacts& facts, const GraphTask& task);

// Collective.
GraphFacts gather_facts(BspComm& bsp, std::span<const Vertex> vertices);

// vertices: one per relay, which know their nodes; empty: all messages lead to other nodes.
Traffic gather_traffic(BspComm& bsp, std::span<const Relay> relays,
                       std::span<const Vertex> vertices = {});

// One per file of this folder.
extern const GraphPlanner graph_linear, graph_coloring, graph_tree, graph_node_aware,
    graph_common_neighborhood, graph_store_and_forward, graph_message_sharing, graph_balanced;

}  // namespace tonari
