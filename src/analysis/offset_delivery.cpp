// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/offset_delivery.hpp"

namespace tonari {

Delivery expected_delivery(const Neighborhood& near, Collective collective,
                           std::span<const std::uint64_t> bytes) {
  Delivery delivery;
  const bool alltoall = collective == Collective::alltoall;
  for (int rank = 0; rank < near.grid.ranks(); ++rank) {
    delivery.send_bytes.emplace_back(bytes.begin(), bytes.end());
    auto& expected = delivery.expected.emplace_back();
    auto& recv_bytes = delivery.recv_bytes.emplace_back();
    for (std::uint32_t i = 0; i < near.offsets.size(); ++i) {
      expected.push_back({near.source(rank, i), alltoall ? i : 0});
      recv_bytes.push_back(bytes[alltoall ? i : 0]);
    }
  }
  return delivery;
}

}  // namespace tonari
