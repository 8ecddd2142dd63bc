// SPDX-License-Identifier: BSD-3-Clause
#include "select/price.hpp"

#include <algorithm>
#include <cmath>

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

double price_offsets(const OffsetVariant& variant, const Sizes& sizes, const LogGP& machine,
                     ChannelCost channel) {
  const bool simulated = variant.hops() <= most_simulated_hops;
  if (!simulated || (sizes.bytes.empty() && !sizes.edges))
    return estimate(variant, sizes.average, machine, channel);
  const Plan plan = variant.plan(middle(variant.near().grid), {Storage::separate, 0});
  const auto common = [&](Slice s) -> std::uint64_t {
    if (variant.collective() == Collective::allgather) return sizes.bytes[0];
    return sizes.bytes[s.buffer == Buffer::scratch ? plan.scratch_like()[s.block] : s.block];
  };
  const auto own = [&](Slice s) -> std::uint64_t {
    if (s.buffer == Buffer::send) return sizes.edges->send[s.block];
    return sizes.edges->recv[s.buffer == Buffer::scratch ? plan.scratch_like()[s.block] : s.block];
  };
  return simulate(std::span(&plan, 1), sizes.edges ? BlockBytes(own) : BlockBytes(common), machine,
                  channel);
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

// Uses the busiest rank's messages and blocks, and the longest way: no rank knows all plans.
double price_traffic(const Traffic& traffic, const Bytewise& bytes, const LogGP& m,
                     ChannelCost channel) {
  const auto out = static_cast<double>(traffic.most_out), in = static_cast<double>(traffic.most_in);
  if (traffic.messages == 0) return 0;
  const auto blocks = static_cast<double>(traffic.most_blocks_out + traffic.most_blocks_in);
  const double message = bytes.total / static_cast<double>(traffic.messages);
  const double segments =
      channel.segment > 0 ? std::max(1.0, std::ceil(message / static_cast<double>(channel.segment)))
                          : 1;
  const bool combined = traffic.blocks > traffic.messages;
  double processor = (out + in) * segments * m.o;
  if (channel.typed)
    processor += combined ? blocks * m.typed_block : 0;
  else if (combined || !channel.direct)
    processor += blocks * m.copy_block + (bytes.out + bytes.in) * m.copy_byte;
  const double network = std::max(out, in) * segments * m.g + std::max(bytes.out, bytes.in) * m.G;
  const bool waits = message / segments > static_cast<double>(m.eager);
  return std::max(processor, network) +
         static_cast<double>(traffic.stages) * (m.L + (waits ? m.rendezvous : 0));
}

}  // namespace

double price(const Variant& variant, const Sizes& sizes, const LogGP& machine,
             ChannelCost channel) {
  if (const auto* by_offsets = dynamic_cast<const OffsetVariant*>(&variant))
    return price_offsets(*by_offsets, sizes, machine, channel);
  const auto& by_graph = dynamic_cast<const GraphVariant&>(variant);
  if (sizes.edges) return price_edges(by_graph, *sizes.edges, machine, channel);
  return price_traffic(by_graph.traffic(), bytes_moved(by_graph, sizes.average), machine, channel);
}

}  // namespace tonari
