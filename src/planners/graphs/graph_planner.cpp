// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/graph_planner.hpp"

#include <array>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/hash.hpp"

namespace tonari {

namespace {

std::int64_t distinct_others(const std::vector<std::int32_t>& peers, std::int32_t self) {
  std::vector<std::int32_t> sorted = peers;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return std::count_if(sorted.begin(), sorted.end(),
                       [&](std::int32_t peer) { return peer >= 0 && peer != self; });
}

// How many messages the hops make: distinct pairs of stage and peer.
std::int64_t message_count(const std::vector<Hop>& hops) {
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (const Hop& hop : hops) pairs.emplace_back(hop.stage, hop.peer);
  std::sort(pairs.begin(), pairs.end());
  return std::unique(pairs.begin(), pairs.end()) - pairs.begin();
}

}  // namespace

GraphFacts gather_facts(BspComm& bsp, std::span<const Vertex> vertices) {
  Word most[] = {0, 0, 0, 0}, total[] = {0, 0, 0};
  for (const Vertex& v : vertices) {
    most[3] = std::max<Word>(most[3], !v.bytes.empty());
    const Word out = distinct_others(v.targets, v.rank);
    most[0] = std::max(most[0], out);
    most[1] = std::max<Word>(most[1], distinct_others(v.sources, v.rank));
    most[2] = std::max<Word>(most[2], static_cast<Word>(v.node_ranks.size()));
    total[0] += std::count_if(v.targets.begin(), v.targets.end(),
                              [&](std::int32_t t) { return t >= 0 && t != v.rank; });
    total[1] += v.node == v.rank;
    total[2] += out;
  }
  bsp.max(most);
  bsp.sum(total);
  return {bsp.ranks(),
          static_cast<int>(total[1]),
          static_cast<int>(most[2]),
          total[0],
          most[0],
          most[1],
          total[2],
          most[3] > 0};
}

GraphTask counting_messages(GraphTask task) {
  LogGP& m = task.machine;
  m.L = m.G = m.copy_block = m.copy_byte = m.rendezvous = 0;
  m.o = m.g = 1e-6;
  return task;
}

Objection objection(const GraphPlanner& planner, const GraphFacts& facts, const GraphTask& task) {
  std::string impossible = planner.applicable(facts, task);
  if (!impossible.empty()) return {std::move(impossible), ""};
  return {"", planner.pays(facts, task)};
}

namespace {

// Those that leave the node. Without a vertex, all do.
std::vector<Hop> far_ones(const std::vector<Hop>& hops, const Vertex* vertex) {
  std::vector<Hop> far = hops;
  if (vertex)
    std::erase_if(far, [&](const Hop& hop) {
      return std::ranges::binary_search(vertex->node_ranks, hop.peer);
    });
  return far;
}

std::size_t stages_of(const std::vector<Hop>& hops) {
  std::set<std::int32_t> stages;
  for (const Hop& hop : hops) stages.insert(hop.stage);
  return stages.size();
}

}  // namespace

Traffic gather_traffic(BspComm& bsp, std::span<const Relay> relays,
                       std::span<const Vertex> vertices) {
  std::array<Word, 10> most{};
  std::array<Word, 2> total{};
  for (std::size_t k = 0; k < relays.size(); ++k) {
    const Relay& relay = relays[k];
    const Vertex* const vertex = vertices.empty() ? nullptr : &vertices[k];
    const std::vector<Hop> far_out = far_ones(relay.out, vertex),
                           far_in = far_ones(relay.in, vertex);
    std::int64_t stages = 0;
    for (const Hop& hop : relay.out) stages = std::max<std::int64_t>(stages, hop.stage + 1);
    const auto size = [](const std::vector<Hop>& hops) {
      return static_cast<std::int64_t>(hops.size());
    };
    const std::int64_t mine[] = {message_count(relay.out),
                                 message_count(relay.in),
                                 size(relay.out),
                                 size(relay.in),
                                 stages,
                                 message_count(far_out),
                                 message_count(far_in),
                                 size(far_out),
                                 size(far_in),
                                 static_cast<std::int64_t>(stages_of(far_out))};
    for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max<Word>(most[i], mine[i]);
    total[0] += mine[0];
    total[1] += mine[2];
  }
  bsp.max(most);
  bsp.sum(total);
  return {most[0], most[1], total[0], total[1], most[2], most[3],
          most[4], most[5], most[6],  most[7],  most[8], most[9]};
}

GraphVariant::GraphVariant(const GraphPlanner& planner, std::string variant,
                           std::span<const Vertex> vertices, const GraphTask& task,
                           std::vector<Relay> relays, int ports)
    : Variant(planner.name, std::move(variant)),
      vertices_(vertices),
      collective_(task.collective),
      relays_(std::move(relays)),
      ports_(ports) {}

// Keys are equal only if all ranks have the same hops in the same order: where a planner finds
// nothing to do, it does what linear does.
void GraphVariant::gather(BspComm& bsp) {
  traffic_ = gather_traffic(bsp, relays_, vertices_);
  const bool sized =
      std::ranges::any_of(vertices_, [](const Vertex& v) { return !v.bytes.empty(); });
  if (bsp.max(Word{sized}) != 0) volumes_ = gather_volumes(bsp, vertices_, collective_, relays_);
  Word sum = 0;
  for (std::size_t k = 0; k < relays_.size(); ++k) {
    Hash hash;
    hash.word(vertices_[k].rank).word(ports_);
    for (const std::vector<Hop>* hops : {&relays_[k].out, &relays_[k].in}) {
      hash.word(hops->size());
      for (const Hop& hop : *hops)
        hash.word(hop.stage).word(hop.peer).word(hop.block.origin).word(hop.block.block);
    }
    sum += static_cast<Word>(hash.value() >> 24);  // room for the sum of many
  }
  dedup_key_ = static_cast<std::uint64_t>(bsp.sum(sum));
}

std::size_t GraphVariant::rounds() const {
  return static_cast<std::size_t>(ports_ > 0 ? traffic_.stages
                                             : std::max(traffic_.most_out, traffic_.most_in));
}

Plan GraphVariant::plan(int rank, EmitOptions options) const {
  const auto vertex = std::ranges::lower_bound(vertices_, rank, {}, &Vertex::rank);
  if (vertex == vertices_.end() || vertex->rank != rank)
    fail(Errc::internal, label(), " was asked for the plan of rank ", rank, " in another process");
  return emit(*vertex, collective_, relays_[static_cast<std::size_t>(vertex - vertices_.begin())],
              options.ports > 0 ? options.ports : ports_);
}

}  // namespace tonari
