// SPDX-License-Identifier: BSD-3-Clause
#include "vector/planned_route.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "planners/graphs/mirror.hpp"
#include "planners/graphs/planning_root.hpp"
#include "vector/route_scheme.hpp"

namespace tonari {
namespace {

// What is best in general (docs/adr/0015-irregular.md). Only `2 stages` is planned alone.
std::string best_variant(const GraphPlanner& planner, const GraphFacts& facts) {
  const bool fits = fits_a_root(facts);
  if (&planner == &graph_balanced) return fits ? "2 stages" : "both ends";
  return fits ? "whole pattern" : "levelled phase II";
}

[[noreturn]] void refuse_variant(const std::string& route, const RouteScheme& scheme,
                                 const std::vector<GraphVariant>& variants) {
  std::string known;
  for (const GraphVariant& variant : variants)
    known += text(known.empty() ? "" : ", ", scheme.planner->name, "/", variant.variant());
  fail(Errc::argument, "tonari_route (TONARI_ROUTE) is '", route, "'; here it may be ", known,
       scheme.planner == &graph_balanced
           ? ", balanced/2 stages to balanced/8 stages, or balanced/words Y"
           : "");
}

// Collective. The hops of this rank's blocks.
Relay plan_blocks(BspComm& bsp, const Vertex& vertex, const std::string& route) {
  const std::span one(&vertex, 1);
  const GraphFacts facts = gather_facts(bsp, one);
  if (facts.pairs == 0) return {};
  RouteScheme scheme = *scheme_of(route);
  if (scheme.variant.empty()) scheme.variant = best_variant(*scheme.planner, facts);
  GraphTask task;
  task.forced = true, task.variant = scheme.variant;
  Word bytes = 0;
  for (const std::uint64_t of_block : vertex.bytes) bytes += static_cast<Word>(of_block);
  task.block_bytes = static_cast<double>(bsp.sum(bytes)) / static_cast<double>(facts.edges);
  const std::vector<GraphVariant> variants = scheme.planner->variants(bsp, one, facts, task);
  for (const GraphVariant& variant : variants)
    if (variant.variant() == scheme.variant) return variant.relays().front();
  refuse_variant(route, scheme, variants);
}

// The hops of blocks that go the other way, as those of blocks that go forward.
void turn_round(Relay& relay, std::int32_t stages) {
  std::swap(relay.out, relay.in);
  for (std::vector<Hop>* const hops : {&relay.out, &relay.in})
    for (Hop& hop : *hops) hop.stage = stages - 1 - hop.stage;
}

using Blocks = std::map<BlockId, std::vector<Word>>;  // the indices of their values

// One rank, which learns which values go over it.
class WaysOfValues {
 public:
  // own: the blocks that begin here.
  WaysOfValues(BspComm& bsp, Blocks own) : bsp_(bsp), blocks_(std::move(own)) {}

  VectorRoute follow(const std::string& route, const Relay& relay, std::int32_t stages) {
    for (std::int32_t stage = 0; stage < stages; ++stage) {
      for (const Hop& hop : relay.out)
        if (hop.stage == stage) pass_on(hop);
      bsp_.exchange();
      for (const BspMessage& block : bsp_.inbox(0)) receive(stage, block);
    }
    return VectorRoute::planned(route, stages, std::move(arrivals_), separate_);
  }

 private:
  // A message is a block: the rank that numbers it, its number there, and the indices.
  void pass_on(const Hop& hop) {
    const std::vector<Word>& values = blocks_.at(hop.block);
    std::vector<Word> words{hop.block.origin, Word{hop.block.block}};
    words.insert(words.end(), values.begin(), values.end());
    bsp_.send(0, hop.peer, words);
    separate_.sent += static_cast<std::int64_t>(values.size());
  }

  // Of the blocks that bring a value the first counts; of those of one stage, the lowest sender's.
  void receive(std::int32_t stage, const BspMessage& block) {
    const std::span<const Word> values = block.words.subspan(2);
    for (const std::int64_t index : values)
      arrivals_.try_emplace(index, ValueArrival{stage, block.from});
    separate_.received += static_cast<std::int64_t>(values.size());
    blocks_[{static_cast<std::int32_t>(block.words[0]), static_cast<std::uint32_t>(block.words[1])}]
        .assign(values.begin(), values.end());
  }

  BspComm& bsp_;
  Blocks blocks_;  // that are here or were
  std::unordered_map<std::int64_t, ValueArrival> arrivals_;
  SeparateValues separate_;
};

// One rank, and what it has for others in both directions.
class RoutePlanner {
 public:
  RoutePlanner(BspComm& bsp, std::string route) : bsp_(bsp), route_(std::move(route)) {
    values_.rank = values_.node = bsp.here()[0];
    values_.node_ranks = {values_.rank};
    sums_ = values_;
  }

  // Owners learn who needs which of their values: a block for each rank, and one back for its sums.
  void list_blocks(const OwnedRanges& ranges, std::span<const std::int64_t> indices) {
    for (const auto& [owner, wanted] : by_owner(ranges, indices)) {
      bsp_.send(0, owner, wanted);
      add(values_.sources, sums_, owner, wanted.size());
    }
    bsp_.exchange();
    for (const BspMessage& needs : bsp_.inbox(0)) {
      lists_.emplace_back(needs.words.begin(), needs.words.end());
      add(sums_.sources, values_, needs.from, needs.words.size());
    }
    for (Vertex* const vertex : {&values_, &sums_})
      if (const auto wrong = mirror(bsp_, {vertex, 1})) throw *wrong;
  }

  VectorRoute plan_values() {
    Blocks own;
    for (std::size_t b = 0; b < lists_.size(); ++b)
      own[{values_.rank, static_cast<std::uint32_t>(b)}] = lists_[b];
    const Relay relay = plan_blocks(bsp_, values_, route_);
    return WaysOfValues(bsp_, std::move(own)).follow(route_, relay, stages_of(relay));
  }

  // Values go back where sums come from.
  VectorRoute plan_sums() {
    Blocks own;
    for (std::size_t b = 0; b < lists_.size(); ++b)
      own[{sums_.sources[b], sums_.origins[b]}] = lists_[b];
    Relay relay = plan_blocks(bsp_, sums_, route_);
    const std::int32_t stages = stages_of(relay);
    turn_round(relay, stages);
    return WaysOfValues(bsp_, std::move(own)).follow(route_, relay, stages);
  }

 private:
  // As algorithms price what goes another way: a value is a double.
  static constexpr std::uint64_t bytes_of_value = 8;

  std::map<std::int32_t, std::vector<Word>> by_owner(const OwnedRanges& ranges,
                                                     std::span<const std::int64_t> indices) const {
    std::vector<Word> wanted(indices.begin(), indices.end());
    std::ranges::sort(wanted);
    const auto repeats = std::ranges::unique(wanted);
    wanted.erase(repeats.begin(), repeats.end());
    std::map<std::int32_t, std::vector<Word>> all;
    for (auto first = wanted.begin(); first != wanted.end();) {
      const OwnedRanges::Part& part = ranges.part_of(*first);
      const auto last = std::lower_bound(first, wanted.end(), part.end);
      if (part.rank != values_.rank) all[part.rank].assign(first, last);
      first = last;
    }
    return all;
  }

  // A block of so many values comes from a peer in one direction, and goes there in the other.
  static void add(std::vector<std::int32_t>& sources, Vertex& back, std::int32_t peer,
                  std::size_t count) {
    sources.push_back(peer);
    back.targets.push_back(peer), back.bytes.push_back(bytes_of_value * count);
  }

  std::int32_t stages_of(const Relay& relay) const {
    std::int32_t stages = 0;
    for (const Hop& hop : relay.out) stages = std::max(stages, hop.stage + 1);
    return static_cast<std::int32_t>(bsp_.max(Word{stages}));
  }

  BspComm& bsp_;
  const std::string route_;
  Vertex values_, sums_;
  std::vector<std::vector<Word>> lists_;  // by target: the indices that it needs
};

}  // namespace

PlannedRoutes plan_routes(BspComm& bsp, const OwnedRanges& ranges,
                          std::span<const std::int64_t> indices, const std::string& name) {
  RoutePlanner planner(bsp, name);
  planner.list_blocks(ranges, indices);
  VectorRoute values = planner.plan_values();
  return {std::move(values), planner.plan_sums()};
}

}  // namespace tonari
