// SPDX-License-Identifier: BSD-3-Clause
#include "select/edge_price.hpp"

#include <algorithm>
#include <cmath>
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

// The messages that leave this rank, or that reach it.
struct Messages {
  double segments = 0, bytes = 0, longest = 0;

  Messages(const std::vector<Hop>& hops, const PassingSizes& sizes, ChannelCost channel) {
    std::map<std::pair<std::int32_t, std::int32_t>, double> all;  // by stage and peer
    for (const Hop& hop : hops) all[{hop.stage, hop.peer}] += sizes.of(hop.block);
    for (const auto& [where, length] : all) {
      const double most = channel.segment > 0 ? static_cast<double>(channel.segment) : length;
      segments += most > 0 ? std::max(1.0, std::ceil(length / most)) : 1;
      bytes += length;
      longest = std::max(longest, std::min(length, most));
    }
  }
};

}  // namespace

double price_edges(const GraphVariant& variant, const EdgeSizes& mine, const LogGP& m,
                   ChannelCost channel) {
  const Traffic& traffic = variant.traffic();
  if (traffic.messages == 0) return 0;
  const std::vector<Relay>& all = variant.relays();
  const auto rank = static_cast<std::size_t>(mine.vertex->rank);
  const Relay& relay = all.size() == 1 ? all.front() : all[rank];
  const PassingSizes sizes(mine, variant.collective() == Collective::alltoall);
  const Messages out(relay.out, sizes, channel), in(relay.in, sizes, channel);
  double beyond = 0;
  for (const Hop& hop : relay.out) beyond += sizes.beyond(hop);
  const auto blocks = static_cast<double>(relay.out.size() + relay.in.size());
  const bool combined = traffic.blocks > traffic.messages;
  double processor = (out.segments + in.segments) * m.o;
  if (channel.typed)
    processor += combined ? blocks * m.typed_block : 0;
  else if (combined || !channel.direct)
    processor += blocks * m.copy_block + (out.bytes + in.bytes + 2 * beyond) * m.copy_byte;
  const double network =
      std::max(out.segments, in.segments) * m.g + (std::max(out.bytes, in.bytes) + beyond) * m.G;
  const bool waits = std::max(out.longest, in.longest) > static_cast<double>(m.eager);
  return std::max(processor, network) +
         static_cast<double>(traffic.stages) * (m.L + (waits ? m.rendezvous : 0));
}

}  // namespace tonari
