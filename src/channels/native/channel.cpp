// SPDX-License-Identifier: BSD-3-Clause
// MPI's own neighborhood collectives: they take blocks, not messages of a plan.
#include <algorithm>
#include <utility>

#include "channels/table.hpp"
#include "select/candidates.hpp"

namespace tonari {

// Of this rank's own edges, one after the other.
static double price_edges(const EdgeSizes& mine, const LogGP& m) {
  const auto sum = [&](const std::vector<std::int32_t>& peers, const std::vector<Bytes>& sizes) {
    double overheads = 0, network = 0;
    for (std::size_t i = 0; i < peers.size(); ++i) {
      if (peers[i] < 0) continue;
      const Bytes bytes = sizes[sizes.size() == peers.size() ? i : 0];
      overheads += m.o;
      network += m.G * static_cast<double>(bytes) + (bytes > m.eager ? m.rendezvous : 0);
    }
    return std::pair(overheads, network);
  };
  const auto [send, out] = sum(mine.vertex->targets, mine.send);
  const auto [recv, in] = sum(mine.vertex->sources, mine.recv);
  return m.L + send + recv + std::max(out, in);
}

// Today's MPIs send every block by itself, so that is the predicted cost.
static double price(const Offer& offer, const std::string&) {
  const LogGP& m = offer.machine;
  if (offer.problem.sizes.edges) return price_edges(*offer.problem.sizes.edges, m);
  const double blocks = static_cast<double>(offer.problem.neighbors),
               average = offer.problem.sizes.average;
  return m.L + blocks * (2 * m.o + m.G * average + (average > m.eager ? m.rendezvous : 0));
}

const Channel native_collective{.name = "mpi",
                                .help = "MPI's own neighborhood collective",
                                .carries = Carries::exchange,
                                .expensive = true,
                                .price = price};

}  // namespace tonari
