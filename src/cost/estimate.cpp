// SPDX-License-Identifier: BSD-3-Clause
#include "cost/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "cost/effort.hpp"

namespace tonari {
namespace {

// What one look at the offsets tells.
struct Glance {
  std::size_t moving = 0;  // offsets that are not zero
  // pieces of a message of all blocks that agree in one coordinate; neighbors in the list often do
  double pieces_per_block = 1;
};

Glance glance(const Neighborhood& near) {
  const int d = near.grid.dimensions();
  std::size_t moving = 0, runs = 0, coordinates = 0;  // those that are not zero
  Vec before;
  for (const Vec& offset : near.offsets) {
    std::size_t here = 0;
    for (int j = 0; j < d; ++j) {
      here += offset[j] != 0;
      runs += offset[j] != 0 && offset[j] != before[j];
    }
    moving += here > 0;
    coordinates += here;
    before = offset;
  }
  return {moving, coordinates > 0 ? units(runs) / units(coordinates) : 1};
}

// The blocks that a rank sends. The tree of a large allgather takes milliseconds to make. Most such
// neighborhoods are boxes, where every place on the way is a neighbor, so each block arrives there
// once.
double blocks_sent(const OffsetVariant& variant, std::size_t moving) {
  constexpr std::size_t largest_tree = 2000;  // neighbors
  if (variant.collective() == Collective::alltoall || variant.near().offsets.size() <= largest_tree)
    return units(variant.volume());
  return units(std::min(variant.hops(), moving));
}

}  // namespace

double estimate(const OffsetVariant& variant, double block_bytes, const LogGP& machine,
                ChannelCost channel) {
  const double rounds = units(variant.rounds());
  if (rounds == 0) return 0;
  const auto [moving, share] = glance(variant.near());
  const double blocks = blocks_sent(variant, moving), message = blocks / rounds * block_bytes;
  // A block takes `levels` hops on average: it waits for the network that often, each time for its
  // share of the rounds.
  const double levels = std::clamp(
      std::ceil(units(variant.hops()) / std::max<double>(1, units(moving))), 1.0, rounds);
  const double segments =
      channel.segment > 0 ? std::max(1.0, std::ceil(message / units(channel.segment))) : 1;
  const bool waits = message / segments > units(machine.eager);
  const bool combined = blocks > rounds || levels > 1;
  const double delivered = combined ? std::min(blocks, units(moving)) : 0;

  double processor = rounds * segments * 2 * machine.o;
  if (channel.typed)
    processor += combined ? 2 * blocks * share * machine.typed_block : 0;
  else if (combined || !channel.direct)
    processor +=
        (blocks + delivered) * (share * machine.copy_block + block_bytes * machine.copy_byte);
  const double network = rounds * segments * machine.g + blocks * block_bytes * machine.G;
  return std::max(processor, network) + levels * (machine.L + (waits ? machine.rendezvous : 0)) +
         std::min(processor, network) * levels / rounds;
}

}  // namespace tonari
