// SPDX-License-Identifier: BSD-3-Clause
#include "select/combining.hpp"

#include <algorithm>
#include <numeric>

#include "planners/offsets/offset_planner.hpp"
#include "select/price.hpp"
#include "select/problem.hpp"

namespace tonari {
namespace {

// More unions than this would be felt in the first call.
constexpr std::size_t most_unions = std::size_t{1} << 22;
// Blocks for which variants are compared, and the longest that are asked about.
constexpr Bytes typical_block = 64, shortest_block = 8, longest_block = Bytes{1} << 20;

class Classes {
 public:
  explicit Classes(std::size_t count) : parent_(count), left_(count) {
    std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
  }
  std::uint32_t of(std::uint32_t k) {
    while (parent_[k] != k) k = parent_[k] = parent_[parent_[k]];
    return k;
  }
  void unite(std::uint32_t a, std::uint32_t b) {
    a = of(a), b = of(b);
    if (a == b) return;
    parent_[b] = a;
    --left_;
  }
  std::size_t left() const { return left_; }

 private:
  std::vector<std::uint32_t> parent_;
  std::size_t left_;
};

double price_of(const Variant& variant, const CombiningQuestion& question, Bytes bytes) {
  const std::size_t blocks =
      question.collective == Collective::allgather ? 1 : question.near.offsets.size();
  const Sizes sizes{std::vector<Bytes>(blocks, bytes), static_cast<double>(bytes)};
  return price(variant, sizes, *question.machine, {});
}

// Whether each step leads along an edge, so that every message goes to a neighbor.
bool along_edges(const Routing& routing) {
  const Neighborhood& near = routing.near();
  std::vector<Vec> edges;
  for (const Vec& offset : near.offsets) edges.push_back(near.grid.shortest(offset));
  return std::ranges::all_of(routing.steps(), [&](const Vec& step) {
    return std::ranges::find(edges, near.grid.shortest(step)) != edges.end();
  });
}

// The most blocks that a message may have.
std::size_t most_blocks(const Routing& routing) {
  std::vector<std::size_t> blocks(routing.steps().size());
  for (std::size_t i = 0; i < routing.blocks(); ++i)
    for (const std::int32_t step : routing.path(i)) ++blocks[static_cast<std::size_t>(step)];
  return blocks.empty() ? 0 : std::ranges::max(blocks);
}

// Up to which size the variant may be used.
Bytes limit_of(const OffsetVariant& variant, const Variant& direct,
               const CombiningQuestion& question) {
  const std::size_t blocks = most_blocks(variant.routing());
  if (blocks == 0 || !along_edges(variant.routing())) return 0;
  const Bytes room = question.room / blocks;
  if (!question.machine) return std::min(small_block, room);
  if (!question.priced) return room;
  Bytes limit = 0;
  for (Bytes bytes = shortest_block; bytes <= std::min(room, longest_block); bytes *= 2) {
    if (price_of(variant, question, bytes) >= price_of(direct, question, bytes)) break;
    limit = bytes;
  }
  return limit;
}

}  // namespace

SizesElsewhere sizes_elsewhere(const Neighborhood& near) {
  const auto ranks = static_cast<std::uint32_t>(near.grid.ranks());
  if (near.offsets.empty() || near.offsets.size() > most_unions / ranks)
    return SizesElsewhere::unknown;
  Classes sizes(2 * std::size_t{ranks});  // of what each rank sends, then of what it receives
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (const std::int32_t target : neighbor_ranks(near, static_cast<int>(rank)).targets)
      if (target >= 0) sizes.unite(rank, ranks + static_cast<std::uint32_t>(target));
  if (sizes.left() == 1) return SizesElsewhere::equal;
  if (sizes.left() > 2 || sizes.of(0) == sizes.of(ranks)) return SizesElsewhere::unknown;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    if (sizes.of(rank) == sizes.of(ranks + rank)) return SizesElsewhere::unknown;
  return SizesElsewhere::if_equal_here;
}

Combining best_combining(PlannerRegistry& planners, const CombiningQuestion& question) {
  std::string reason;
  const auto variants = [&](const std::string& algorithm) {
    return planners.variants(algorithm, question.collective, static_cast<double>(typical_block),
                             std::nullopt, reason);
  };
  const std::vector<VariantPtr> linear = variants("linear");
  if (linear.empty()) return {};
  Combining best;
  double price = 0;
  for (const std::string& algorithm : planners.algorithms()) {
    if (algorithm == "linear") continue;
    for (const VariantPtr& variant : variants(algorithm)) {
      const auto* const by_offsets = dynamic_cast<const OffsetVariant*>(variant.get());
      if (!by_offsets || variant->messages() >= linear.front()->messages()) continue;
      const Bytes limit = limit_of(*by_offsets, *linear.front(), question);
      const double here = question.machine ? price_of(*variant, question, typical_block)
                                           : static_cast<double>(variant->messages());
      if (limit == 0 || (best.variant && here >= price)) continue;
      best = {variant, question.collective, limit};
      price = here;
    }
  }
  return best;
}

}  // namespace tonari
