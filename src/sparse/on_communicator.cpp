// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/on_communicator.hpp"

#include "engine/wait/agree.hpp"

namespace tonari {

SparseExchange& sparse_exchange_of(SharedComm& shared) {
  std::unique_ptr<KeptExchange>& kept = shared.kept_sparse();
  if (!kept) {
    std::unique_ptr<SparseExchange> made;
    run_collectively(shared.comm(), [&] {
      std::unique_ptr<PairMessages> pairs;
      if (shared.ranks() <= most_pairwise) pairs = connect_pairs(shared);
      made = std::make_unique<SparseExchange>(shared.comm(), std::move(pairs));
    });
    kept = std::move(made);
  }
  return static_cast<SparseExchange&>(*kept);
}

std::unique_ptr<PairMessages> connect_pairs(SharedComm& shared) {
  const NodeMap& nodes = *shared.nodes();
  std::vector<NeighborEdges> others;
  for (std::int32_t rank = 0; rank < shared.ranks(); ++rank)
    if (rank != shared.rank()) others.push_back({rank, {0}, {0}, {0}});
  shared.reserve_tags(stream_tags);
  auto streams =
      std::make_unique<Streams>(shared.connect_group(nodes), std::move(others), shared.exchanges(),
                                shared.first_tag(), PairMessages::board_bytes);
  shared.take_tags(stream_tags);
  return std::make_unique<PairMessages>(
      std::move(streams), WaitPolicy{nodes.node->crowded(), timeout_in_environment()});
}

}  // namespace tonari
