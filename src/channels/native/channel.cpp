// SPDX-License-Identifier: BSD-3-Clause
// MPI's own neighborhood collectives: they take blocks, not messages of a plan.
#include "channels/table.hpp"
#include "select/candidates.hpp"

namespace tonari {

// Today's MPIs send every block by itself, so that is the predicted cost.
static double price(const Offer& offer, const std::string&) {
  const LogGP& m = offer.machine;
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
