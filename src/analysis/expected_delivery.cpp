// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/expected_delivery.hpp"

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

Delivery expected_delivery(std::span<const Vertex> vertices, Collective collective,
                           const std::function<std::uint64_t(BlockId)>& bytes) {
  Delivery delivery;
  const bool alltoall = collective == Collective::alltoall;
  for (const Vertex& v : vertices) {
    auto& sent = delivery.send_bytes.emplace_back();
    for (std::uint32_t i = 0; i < (alltoall ? v.targets.size() : 1); ++i)
      sent.push_back(bytes({v.rank, i}));
    auto& expected = delivery.expected.emplace_back();
    auto& received = delivery.recv_bytes.emplace_back();
    for (std::uint32_t j = 0; j < v.sources.size(); ++j) {
      const BlockId block{v.sources[j], alltoall ? v.origins[j] : 0};
      expected.push_back({block.origin, block.block});
      received.push_back(block.origin < 0 ? 0 : bytes(block));
    }
  }
  return delivery;
}

}  // namespace tonari
