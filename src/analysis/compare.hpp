// SPDX-License-Identifier: BSD-3-Clause
// The table of `tonari plan --graph`: every rank of one whole graph is planned in this process,
// counted, priced, and, if there are few enough, proven.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cost/loggp.hpp"
#include "plan/plan.hpp"
#include "planners/graphs/graph_planner.hpp"
#include "topology/neighborhood.hpp"
#include "topology/vertex.hpp"

namespace tonari {

// Edge e goes from rank senders[e] to receivers[e]. Send blocks of a rank are its edges in their
// order; receive blocks are ordered by sender, then as the sender has them. node_ranks: so many
// consecutive ranks share a node. bytes: of the block of each edge, or empty. Throws Errc::argument
// if a rank is not from 0 to ranks - 1.
std::vector<Vertex> make_vertices(int ranks, std::span<const std::int32_t> senders,
                                  std::span<const std::int32_t> receivers, int node_ranks = 1,
                                  std::span<const std::uint64_t> bytes = {});

struct GraphQuestion {
  std::vector<Vertex> vertices;  // of all ranks
  Collective collective = Collective::alltoall;
  std::uint64_t bytes = 64;  // of every block whose size the vertices do not tell
  LogGP machine;
  GraphFacts facts;     // as gather_facts has them
  bool forced = false;  // algorithms are planned wherever they are possible (GraphTask::forced)
};
GraphQuestion make_question(std::vector<Vertex> vertices, Collective collective,
                            std::uint64_t bytes, const LogGP& machine, bool forced = false);

// One variant of one algorithm.
struct GraphAnswer {
  std::string algorithm, variant;
  std::string reason;  // why it is not planned; then nothing below is filled
  Traffic traffic{};
  // steps it takes if every rank sends and receives one message at a time: sum over stages of the
  // busiest rank's messages
  std::int64_t rounds = 0;
  int ports = 0;            // as in GraphVariant
  std::uint64_t bytes = 0;  // sent by the rank that sends most
  double predicted = 0;     // seconds for the whole exchange, all ranks
  // as tonari::crossover_bytes against linear; 0 for linear; none: too large to find out
  std::optional<std::int64_t> crossover_bytes = {};
  bool proven = false;  // by the reference executor; false: too large for it
  // why the algorithm, which is forced, is not expected to pay; empty: it may
  std::string unpaying = {};
};

GraphTask task_of(const GraphQuestion& question);

enum class Proving { never, small, always };

// A row per way, in the algorithm's order, or a single one that says why it is not planned: it is
// impossible, or not expected to pay and not forced.
// Throws Errc::internal if plans turn out to be wrong, and, if they are always to be proven,
// Errc::argument if that is too much for one process.
std::vector<GraphAnswer> analyze(const GraphQuestion& question, const GraphPlanner& algorithm,
                                 Proving proving = Proving::small);

// One rank's plan. Throws Errc::algorithm if the algorithm is not planned or has no such
// variant, Errc::argument if there is no such rank.
Plan make_plan(const GraphQuestion& question, const GraphPlanner& algorithm,
               const std::string& variant, int rank);

}  // namespace tonari
