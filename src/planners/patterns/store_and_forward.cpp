// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/store_and_forward.hpp"

#include "topology/virtual_topology.hpp"

namespace tonari {

Routes forward_routes(const CommunicationMatrix& matrix, std::span<const int> sizes) {
  const VirtualTopology topology(matrix.ranks(), sizes);
  Routes routes;
  std::vector<std::int32_t> via;
  for (BlockNumber b = 0; b < matrix.blocks(); ++b) {
    via.assign(1, matrix.origin(b));
    for (std::size_t k = 0; k < topology.dimensions(); ++k)
      if (const std::int32_t next = topology.next(via.back(), matrix.target(b), k);
          next != via.back())
        via.push_back(next);
    routes.add(via);
  }
  return routes;
}

MessageSchedule store_and_forward(const CommunicationMatrix& matrix, int n) {
  if (matrix.ranks() == 0) return direct_schedule(matrix);
  return combine(matrix, forward_routes(matrix, virtual_topology(matrix.ranks(), n)));
}

}  // namespace tonari
