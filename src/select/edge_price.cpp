// SPDX-License-Identifier: BSD-3-Clause
#include "select/edge_price.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

namespace tonari {
namespace {

double mean_received(const EdgeSizes& mine) {
  double sum = 0, edges = 0;
  for (std::size_t j = 0; j < mine.recv.size(); ++j)
    if (mine.vertex->sources[j] >= 0) sum += static_cast<double>(mine.recv[j]), ++edges;
  return edges > 0 ? sum / edges : 0;
}

// The sizes of the blocks that pass this rank, as far as it knows them.
class PassingSizes {
 public:
  PassingSizes(const EdgeSizes& mine, bool alltoall)
      : mine_(mine), alltoall_(alltoall), others_(mean_received(mine)) {
    const Vertex& v = *mine.vertex;
    for (std::size_t j = 0; j < v.sources.size(); ++j)
      if (v.sources[j] >= 0)
        received_[{v.sources[j], alltoall ? v.origins[j] : 0}] = static_cast<double>(mine.recv[j]);
  }
  bool own(BlockId block) const { return block.origin == mine_.vertex->rank; }
  double of(BlockId block) const {
    if (own(block)) return static_cast<double>(mine_.send[alltoall_ ? block.block : 0]);
    const auto known = received_.find(block);
    return known == received_.end() ? others_ : known->second;
  }
  // What the hop makes another rank pass on beyond what that one takes blocks for.
  double beyond(const Hop& hop) const {
    const std::vector<std::int32_t>& targets = mine_.vertex->targets;
    if (!own(hop.block)) return 0;
    const bool there = alltoall_ ? targets[hop.block.block] == hop.peer
                                 : std::ranges::find(targets, hop.peer) != targets.end();
    return there ? 0 : std::max(0.0, of(hop.block) - others_);
  }

 private:
  const EdgeSizes& mine_;
  bool alltoall_;
  double others_;
  std::map<BlockId, double> received_;
};

// The messages over one kind of link that leave this rank, or that reach it.
struct Messages {
  double blocks = 0, segments = 0, bytes = 0, longest = 0, beyond = 0;

  Messages(const std::vector<Hop>& hops, const PassingSizes& sizes, const LinkCost& link,
           const std::function<bool(const Hop&)>& taken) {
    std::map<std::pair<std::int32_t, std::int32_t>, double> all;  // by stage and peer
    for (const Hop& hop : hops) {
      if (!taken(hop)) continue;
      all[{hop.stage, hop.peer}] += sizes.of(hop.block);
      beyond += sizes.beyond(hop);
      ++blocks;
    }
    const auto segment = static_cast<double>(link.channel.segment);
    for (const auto& [where, length] : all) {
      const double most = segment > 0 ? segment : length;
      segments += most > 0 ? std::max(1.0, std::ceil(length / most)) : 1;
      bytes += length;
      longest = std::max(longest, std::min(length, most));
    }
  }
};

struct Cost {
  double processor = 0, network = 0, stage = 0;  // stage: of waiting for one
};

Cost cost_of(const Messages& out, const Messages& in, bool combined, const LinkCost& link) {
  const LogGP& m = link.machine;
  Cost cost;
  cost.processor = (out.segments + in.segments) * m.o;
  if (link.channel.typed)
    cost.processor += combined ? (out.blocks + in.blocks) * m.typed_block : 0;
  else if (combined || !link.channel.direct)
    cost.processor += (out.blocks + in.blocks) * m.copy_block +
                      (out.bytes + in.bytes + 2 * out.beyond) * m.copy_byte;
  cost.network = std::max(out.segments, in.segments) * m.g +
                 (std::max(out.bytes, in.bytes) + out.beyond) * m.G;
  const bool waits = std::max(out.longest, in.longest) > static_cast<double>(m.eager);
  cost.stage = m.L + (waits ? m.rendezvous : 0);
  return cost;
}

}  // namespace

double price_edges(const GraphVariant& variant, const EdgeSizes& mine, const LinkCosts& links) {
  const Traffic& traffic = variant.traffic();
  if (traffic.messages == 0) return 0;
  const std::vector<Relay>& all = variant.relays();
  const auto rank = static_cast<std::size_t>(mine.vertex->rank);
  const Relay& relay = all.size() == 1 ? all.front() : all[rank];
  const PassingSizes sizes(mine, variant.collective() == Collective::alltoall);
  const bool combined = traffic.blocks > traffic.messages;
  const auto cost = [&](bool near, const LinkCost& link) {
    const auto taken = [&](const Hop& hop) {
      return links.near(mine.vertex->rank, hop.peer) == near;
    };
    return cost_of(Messages(relay.out, sizes, link, taken), Messages(relay.in, sizes, link, taken),
                   combined, link);
  };
  const Cost far = cost(false, links.network), near = cost(true, links.node);
  const std::int64_t far_stages = links.node_of.empty() ? traffic.stages : traffic.far_stages;
  return std::max({far.processor + near.processor, far.network, near.network}) +
         static_cast<double>(far_stages) * far.stage +
         static_cast<double>(traffic.stages - far_stages) * near.stage;
}

}  // namespace tonari
