// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/compare.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analysis/crossover.hpp"
#include "analysis/expected_delivery.hpp"
#include "analysis/plan_bytes.hpp"
#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "cost/simulator.hpp"
#include "planners/graphs/local_bsp_comm.hpp"

namespace tonari {
namespace {

constexpr std::int64_t most_proven_ranks = 2000, most_proven_blocks = 200'000;  // a second or two
constexpr std::int64_t most_always_proven_blocks = 5'000'000;
constexpr std::int64_t most_crossed_blocks = 20'000;  // a crossover takes some 60 simulations

// Edges sorted by one of their ends, in their order: those of rank r are order[begin[r]] to
// order[begin[r + 1] - 1].
struct EdgesByRank {
  std::vector<std::size_t> begin, order;
};

EdgesByRank by_rank(int ranks, std::span<const std::int32_t> ends,
                    std::span<const std::size_t> from) {
  EdgesByRank found{std::vector<std::size_t>(static_cast<std::size_t>(ranks) + 1),
                    std::vector<std::size_t>(ends.size())};
  for (std::int32_t end : ends) ++found.begin[static_cast<std::size_t>(end) + 1];
  std::partial_sum(found.begin.begin(), found.begin.end(), found.begin.begin());
  std::vector<std::size_t> next(found.begin.begin(), found.begin.end() - 1);
  for (std::size_t edge : from) found.order[next[static_cast<std::size_t>(ends[edge])]++] = edge;
  return found;
}

void check_edges(int ranks, std::span<const std::int32_t> senders,
                 std::span<const std::int32_t> receivers, int node_ranks) {
  constexpr std::int64_t most_mates = 1 << 27;  // entries of all lists of a node's ranks
  if (ranks < 1) fail(Errc::argument, "a graph needs at least one rank, not ", ranks);
  if (node_ranks < 1)
    fail(Errc::argument, "the number of ranks per node must be at least 1, not ", node_ranks);
  if (static_cast<std::int64_t>(ranks) * std::min(node_ranks, ranks) > most_mates)
    fail(Errc::argument, "nodes of ", node_ranks, " ranks are too large for a graph of ", ranks);
  if (senders.size() != receivers.size())
    fail(Errc::argument, senders.size(), " senders, but ", receivers.size(), " receivers");
  for (auto ends : {senders, receivers})
    for (std::int32_t end : ends)
      if (end < 0 || end >= ranks)
        fail(Errc::argument, "an edge names rank ", end, "; ranks are 0 to ", ranks - 1);
}

std::vector<Plan> plans_of_all(const GraphVariant& variant) {
  std::vector<Plan> plans;
  plans.reserve(variant.relays().size());
  for (std::size_t r = 0; r < variant.relays().size(); ++r)
    plans.push_back(variant.plan(static_cast<int>(r)));
  return plans;
}

std::vector<GraphVariant> all_variants(const GraphQuestion& question,
                                       const GraphPlanner& algorithm) {
  LocalBspComm bsp(static_cast<int>(question.vertices.size()));
  return algorithm.variants(bsp, question.vertices, question.facts, task_of(question));
}

// Messages of one stage and one rank are told apart by their peers.
void count_stages(const std::vector<Hop>& hops,
                  std::vector<std::pair<std::int32_t, std::int32_t>>& messages,
                  std::vector<std::int64_t>& most) {
  messages.clear();
  for (const Hop& hop : hops) messages.emplace_back(hop.stage, hop.peer);
  std::sort(messages.begin(), messages.end());
  messages.erase(std::unique(messages.begin(), messages.end()), messages.end());
  for (auto first = messages.begin(); first != messages.end();) {
    const auto last =
        std::find_if(first, messages.end(), [&](const auto& m) { return m.first != first->first; });
    const auto stage = static_cast<std::size_t>(first->first);
    if (stage >= most.size()) most.resize(stage + 1);
    most[stage] = std::max(most[stage], static_cast<std::int64_t>(last - first));
    first = last;
  }
}

std::int64_t count_rounds(const GraphVariant& variant) {
  std::vector<std::int64_t> most;
  std::vector<std::pair<std::int32_t, std::int32_t>> messages;
  for (const Relay& relay : variant.relays()) {
    count_stages(relay.out, messages, most);
    count_stages(relay.in, messages, most);
  }
  return std::accumulate(most.begin(), most.end(), std::int64_t{0});
}

bool to_be_proven(const GraphQuestion& question, const Traffic& traffic, Proving proving) {
  if (proving == Proving::never) return false;
  if (proving == Proving::small)
    return static_cast<std::int64_t>(question.vertices.size()) <= most_proven_ranks &&
           traffic.blocks <= most_proven_blocks;
  if (traffic.blocks > most_always_proven_blocks)
    fail(Errc::argument, "the reference executor would move ", traffic.blocks, " blocks; ",
         most_always_proven_blocks, " are the most");
  return true;
}

// With blocks of differing sizes.
void prove_all(const GraphQuestion& question, std::span<const Plan> plans, const GraphAnswer& row) {
  const auto bytes = [](BlockId block) {
    return 1 + Hash().word(block.origin).word(block.block).value() % 7;
  };
  const Proof proof =
      prove(plans, expected_delivery(question.vertices, question.collective, bytes));
  if (!proof)
    fail(Errc::internal, "the plans of ", row.algorithm,
         row.variant.empty() ? "" : " " + row.variant, " are wrong: ", proof.what,
         "; please report this");
}

// The node of each rank; empty: each has one of its own.
std::vector<std::int32_t> nodes_of(const GraphQuestion& question) {
  std::vector<std::int32_t> nodes;
  if (question.facts.most_node_ranks <= 1) return nodes;
  for (const Vertex& vertex : question.vertices) nodes.push_back(vertex.node);
  return nodes;
}

// On a node, exchanges go through memory that its ranks share.
LinkCosts links_of(const GraphQuestion& question, std::span<const std::int32_t> nodes) {
  return {{between_nodes(question.machine), {}}, through_memory(question.machine), nodes};
}

GraphAnswer answer(const GraphQuestion& question, const GraphVariant& variant,
                   std::span<const Plan> reference, Proving proving) {
  LocalBspComm bsp(static_cast<int>(question.vertices.size()));
  GraphAnswer row{
      variant.algorithm(),   variant.variant(), "", gather_traffic(bsp, variant.relays()),
      count_rounds(variant), variant.ports()};
  const std::vector<Plan> plans = plans_of_all(variant);
  const std::vector<std::int32_t> nodes = nodes_of(question);
  const LinkCosts links = links_of(question, nodes);
  if (question.facts.sized) {
    row.bytes = static_cast<std::uint64_t>(
        gather_volumes(bsp, question.vertices, question.collective, variant.relays()).most_out);
    row.predicted = simulate_by_distance(
        plans, plan_bytes(question.vertices, question.collective, plans), links);
  } else {
    row.bytes =
        checked_multiply<std::uint64_t>(static_cast<std::uint64_t>(row.traffic.most_blocks_out),
                                        question.bytes, "bytes sent by a rank");
    row.predicted = simulate_by_distance(plans, [&](Slice) { return question.bytes; }, links);
  }
  if (to_be_proven(question, row.traffic, proving)) {
    prove_all(question, plans, row);
    row.proven = true;
  }
  if (row.algorithm == graph_linear.name)
    row.crossover_bytes = 0;
  else if (!reference.empty() && !question.facts.sized && row.traffic.blocks <= most_crossed_blocks)
    row.crossover_bytes = crossover_bytes(plans, reference, links);
  return row;
}

}  // namespace

namespace {

double average_bytes(const GraphQuestion& question) {
  if (!question.facts.sized) return static_cast<double>(question.bytes);
  double total = 0, count = 0;
  for (const Vertex& v : question.vertices)
    for (std::uint64_t bytes : v.bytes) total += static_cast<double>(bytes), ++count;
  return count > 0 ? total / count : 0;
}

}  // namespace

GraphTask task_of(const GraphQuestion& question) {
  return {question.collective, average_bytes(question), question.machine, question.forced};
}

std::vector<Vertex> make_vertices(int ranks, std::span<const std::int32_t> senders,
                                  std::span<const std::int32_t> receivers, int node_ranks,
                                  std::span<const std::uint64_t> bytes) {
  check_edges(ranks, senders, receivers, node_ranks);
  if (!bytes.empty() && bytes.size() != senders.size())
    fail(Errc::argument, bytes.size(), " sizes of blocks, but ", senders.size(), " edges");
  std::vector<std::size_t> all(senders.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  // of one receiver: by sender, then as the sender has them
  const EdgesByRank out = by_rank(ranks, senders, all), in = by_rank(ranks, receivers, out.order);
  std::vector<std::uint32_t> block(senders.size());
  std::vector<Vertex> vertices(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    Vertex& vertex = vertices[static_cast<std::size_t>(r)];
    vertex.rank = r;
    for (std::size_t k = out.begin[r]; k < out.begin[r + 1]; ++k) {
      block[out.order[k]] = static_cast<std::uint32_t>(k - out.begin[r]);
      vertex.targets.push_back(receivers[out.order[k]]);
      if (!bytes.empty()) vertex.bytes.push_back(bytes[out.order[k]]);
    }
    vertex.node = r - r % node_ranks;
    vertex.node_ranks.resize(static_cast<std::size_t>(std::min(node_ranks, ranks - vertex.node)));
    std::iota(vertex.node_ranks.begin(), vertex.node_ranks.end(), vertex.node);
  }
  for (int r = 0; r < ranks; ++r)
    for (std::size_t k = in.begin[r]; k < in.begin[r + 1]; ++k) {
      vertices[static_cast<std::size_t>(r)].sources.push_back(senders[in.order[k]]);
      vertices[static_cast<std::size_t>(r)].origins.push_back(block[in.order[k]]);
    }
  return vertices;
}

GraphQuestion make_question(std::vector<Vertex> vertices, Collective collective,
                            std::uint64_t bytes, const LogGP& machine, bool forced) {
  LocalBspComm bsp(static_cast<int>(vertices.size()));
  const GraphFacts facts = gather_facts(bsp, vertices);
  return {std::move(vertices), collective, bytes, machine, facts, forced};
}

std::vector<GraphAnswer> analyze(const GraphQuestion& question, const GraphPlanner& algorithm,
                                 Proving proving) {
  const GraphTask task = task_of(question);
  const Objection against = objection(algorithm, question.facts, task);
  if (!against.plans(task)) return {{algorithm.name, "", against.reason()}};
  std::vector<Plan> reference;
  if (&algorithm != &graph_linear && question.facts.edges <= most_crossed_blocks)
    reference = plans_of_all(all_variants(question, graph_linear).front());
  std::vector<GraphAnswer> rows;
  for (const GraphVariant& variant : all_variants(question, algorithm)) {
    rows.push_back(answer(question, variant, reference, proving));
    rows.back().unpaying = against.unpaying;
  }
  return rows;
}

Plan make_plan(const GraphQuestion& question, const GraphPlanner& algorithm,
               const std::string& variant, int rank) {
  if (rank < 0 || rank >= question.facts.ranks)
    fail(Errc::argument, "there is no rank ", rank, ": the graph has ranks 0 to ",
         question.facts.ranks - 1);
  const GraphTask task = task_of(question);
  if (const Objection against = objection(algorithm, question.facts, task); !against.plans(task))
    fail(Errc::algorithm, algorithm.name, " cannot be used here: ", against.reason());
  std::string names;
  for (const GraphVariant& one : all_variants(question, algorithm)) {
    if (one.variant() == variant) return one.plan(rank);
    names += (names.empty() ? "'" : ", '") + one.variant() + "'";
  }
  fail(Errc::algorithm, algorithm.name, " has no variant '", variant, "' here, only ", names);
}

}  // namespace tonari
