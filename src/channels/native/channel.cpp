// SPDX-License-Identifier: BSD-3-Clause
// MPI's own neighborhood collectives: they take blocks, not messages of a plan.
#include <algorithm>
#include <utility>

#include "channels/table.hpp"
#include "select/candidates.hpp"

namespace tonari {

// Of this rank's own edges, one after the other.
static double price_edges(const EdgeSizes& mine, const LinkCosts& links) {
  double farthest = 0;
  const auto sum = [&](const std::vector<std::int32_t>& peers, const std::vector<Bytes>& sizes) {
    double overheads = 0, network = 0;
    for (std::size_t i = 0; i < peers.size(); ++i) {
      if (peers[i] < 0) continue;
      const bool near = links.near(mine.vertex->rank, peers[i]);
      const LogGP& m = (near ? links.node : links.network).machine;
      const Bytes bytes = sizes[sizes.size() == peers.size() ? i : 0];
      overheads += m.o;
      network += m.G * static_cast<double>(bytes) + (bytes > m.eager ? m.rendezvous : 0);
      farthest = std::max(farthest, m.L);
    }
    return std::pair(overheads, network);
  };
  const auto [send, out] = sum(mine.vertex->targets, mine.send);
  const auto [recv, in] = sum(mine.vertex->sources, mine.recv);
  return farthest + send + recv + std::max(out, in);
}

static double per_block(const LogGP& m, double bytes) {
  return 2 * m.o + m.G * bytes + (bytes > static_cast<double>(m.eager) ? m.rendezvous : 0);
}

// Today's MPIs send every block by itself, so that is the predicted cost. How many stay on a node
// is known by offsets; on graphs with equal blocks nobody knows: none.
static double price(const Offer& offer, const std::string&) {
  const LinkCosts links = links_of(offer, {});
  if (offer.problem.sizes.edges) return price_edges(*offer.problem.sizes.edges, links);
  const LogGP &far = links.network.machine, &node = links.node.machine;
  const double near = offer.problem.planners.share_on_node(links.node_of),
               average = offer.problem.sizes.average;
  const double each = near * per_block(node, average) + (1 - near) * per_block(far, average);
  return (near < 1 ? far.L : node.L) + static_cast<double>(offer.problem.neighbors) * each;
}

const Channel native_collective{.name = "mpi",
                                .help = "MPI's own neighborhood collective",
                                .carries = Carries::exchange,
                                .expensive = true,
                                .price = price};

}  // namespace tonari
