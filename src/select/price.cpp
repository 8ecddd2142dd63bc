// SPDX-License-Identifier: BSD-3-Clause
#include "select/price.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cost/estimate.hpp"
#include "cost/simulator.hpp"
#include "planners/graphs/graph_planner.hpp"
#include "planners/offsets/offset_planner.hpp"
#include "select/edge_price.hpp"

namespace tonari {
namespace {

constexpr std::size_t most_simulated_hops = 40'000;  // above that the estimate has to do

// A rank in the middle of the grid stands for all.
int middle(const Grid& grid) {
  Vec position;
  for (int j = 0; j < grid.dimensions(); ++j) position[j] = grid.size(j) / 2;
  return grid.rank(position);
}

// By what all hops cost that leave the node, and what they cost on it.
double estimate_by_distance(const OffsetVariant& variant, double block_bytes,
                            const LinkCosts& links) {
  const auto all = [&](const LinkCost& link) {
    return estimate(variant, block_bytes, link.machine, link.channel);
  };
  const double near = share_on_node(variant.near(), links.node_of);
  return near > 0 ? near * all(links.node) + (1 - near) * all(links.network) : all(links.network);
}

double price_offsets(const OffsetVariant& variant, const Sizes& sizes, const LinkCosts& links) {
  const bool simulated = variant.hops() <= most_simulated_hops;
  if (!simulated || (sizes.bytes.empty() && !sizes.edges))
    return estimate_by_distance(variant, sizes.average, links);
  const Plan plan = variant.plan(middle(variant.near().grid), {Storage::separate, 0});
  const auto common = [&](Slice s) -> std::uint64_t {
    if (variant.collective() == Collective::allgather) return sizes.bytes[0];
    return sizes.bytes[s.buffer == Buffer::scratch ? plan.scratch_like()[s.block] : s.block];
  };
  const auto own = [&](Slice s) -> std::uint64_t {
    if (s.buffer == Buffer::send) return sizes.edges->send[s.block];
    return sizes.edges->recv[s.buffer == Buffer::scratch ? plan.scratch_like()[s.block] : s.block];
  };
  return simulate_by_distance(std::span(&plan, 1),
                              sizes.edges ? BlockBytes(own) : BlockBytes(common), links);
}

// What the busiest ranks move, and all together.
struct Bytewise {
  double out, in, total;
};

Bytewise bytes_moved(const GraphVariant& variant, double average) {
  const Traffic& t = variant.traffic();
  if (const auto& v = variant.volumes())
    return {static_cast<double>(v->most_out), static_cast<double>(v->most_in),
            static_cast<double>(v->total)};
  return {average * static_cast<double>(t.most_blocks_out),
          average * static_cast<double>(t.most_blocks_in), average * static_cast<double>(t.blocks)};
}

// The part of the messages that goes over one kind of link: of the busiest ranks.
struct Part {
  double out = 0, in = 0, blocks = 0;  // messages, and blocks of both
  double bytes_out = 0, bytes_in = 0;
  double stages = 0;
};

// Blocks that stay on the node have the mean size of all.
std::pair<Part, Part> far_and_near(const Traffic& t, const Bytewise& bytes) {
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  const auto share = [&](std::int64_t part, std::int64_t all) {
    return all > 0 ? number(part) / number(all) : 0;
  };
  const double out = share(t.far_blocks_out, t.most_blocks_out),
               in = share(t.far_blocks_in, t.most_blocks_in);
  const Part far{number(t.far_out), number(t.far_in), number(t.far_blocks_out + t.far_blocks_in),
                 bytes.out * out,   bytes.in * in,    number(t.far_stages)};
  const Part near{number(t.most_out - t.far_out),
                  number(t.most_in - t.far_in),
                  number(t.most_blocks_out + t.most_blocks_in) - far.blocks,
                  bytes.out * (1 - out),
                  bytes.in * (1 - in),
                  number(t.stages - t.far_stages)};
  return {far, near};
}

struct Cost {
  double processor = 0, network = 0, waiting = 0;
};

// message: the mean length of all. combined: a message may hold several blocks.
Cost cost_of(const Part& part, double message, bool combined, const LinkCost& link) {
  const LogGP& m = link.machine;
  const auto segment = static_cast<double>(link.channel.segment);
  const double segments = segment > 0 ? std::max(1.0, std::ceil(message / segment)) : 1;
  Cost cost;
  cost.processor = (part.out + part.in) * segments * m.o;
  if (link.channel.typed)
    cost.processor += combined ? part.blocks * m.typed_block : 0;
  else if (combined || !link.channel.direct)
    cost.processor += part.blocks * m.copy_block + (part.bytes_out + part.bytes_in) * m.copy_byte;
  cost.network =
      std::max(part.out, part.in) * segments * m.g + std::max(part.bytes_out, part.bytes_in) * m.G;
  const bool waits = message / segments > static_cast<double>(m.eager);
  cost.waiting = part.stages * (m.L + (waits ? m.rendezvous : 0));
  return cost;
}

// Uses the busiest rank's messages and blocks, and the longest way: no rank knows all plans.
double price_traffic(const Traffic& traffic, const Bytewise& bytes, const LinkCosts& links) {
  if (traffic.messages == 0) return 0;
  const double message = bytes.total / static_cast<double>(traffic.messages);
  const bool combined = traffic.blocks > traffic.messages;
  Traffic by_distance = traffic;
  if (links.node_of.empty()) {
    by_distance.far_out = traffic.most_out, by_distance.far_in = traffic.most_in;
    by_distance.far_blocks_out = traffic.most_blocks_out;
    by_distance.far_blocks_in = traffic.most_blocks_in;
    by_distance.far_stages = traffic.stages;
  }
  const auto [far_part, near_part] = far_and_near(by_distance, bytes);
  const Cost far = cost_of(far_part, message, combined, links.network),
             near = cost_of(near_part, message, combined, links.node);
  return std::max({far.processor + near.processor, far.network, near.network}) + far.waiting +
         near.waiting;
}

}  // namespace

double share_on_node(const Neighborhood& near, std::span<const std::int32_t> node_of) {
  if (node_of.empty()) return 0;
  const int rank = middle(near.grid);
  double moving = 0, staying = 0;
  for (const int peer : neighbor_ranks(near, rank).targets) {
    if (peer < 0 || peer == rank) continue;
    ++moving;
    staying += node_of[static_cast<std::size_t>(peer)] == node_of[static_cast<std::size_t>(rank)];
  }
  return moving > 0 ? staying / moving : 0;
}

double price(const Variant& variant, const Sizes& sizes, const LinkCosts& links) {
  if (const auto* by_offsets = dynamic_cast<const OffsetVariant*>(&variant))
    return price_offsets(*by_offsets, sizes, links);
  const auto& by_graph = dynamic_cast<const GraphVariant&>(variant);
  if (sizes.edges) return price_edges(by_graph, *sizes.edges, links);
  return price_traffic(by_graph.traffic(), bytes_moved(by_graph, sizes.average), links);
}

double price(const Variant& variant, const Sizes& sizes, const LogGP& machine,
             ChannelCost channel) {
  return price(variant, sizes, alike(machine, channel));
}

}  // namespace tonari
