// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/overlaps.hpp"

#include "base/error.hpp"

namespace tonari {
namespace {

std::string block_name(const Placed& block) {
  return text(block.written ? "receive block " : "send block ", block.block);
}

}  // namespace

void check_overlaps(const LocalTopology& topology, Collective collective, const Binding& binding) {
  std::vector<Placed> placed;
  std::vector<Layout> whole(binding.send.size() + binding.recv.size());
  const auto add = [&](const std::vector<Block>& blocks, Buffer side) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const Block& b = blocks[i];
      if (b.bytes == 0) continue;
      Layout& bytes = whole[placed.size()];
      if (!b.layout) bytes.add(0, b.bytes);
      const auto named = static_cast<std::uint32_t>(given_number(topology, collective, side, i));
      placed.push_back({reinterpret_cast<std::uintptr_t>(b.address), b.layout ? b.layout : &bytes,
                        named, side == Buffer::recv});
    }
  };
  add(binding.send, Buffer::send);
  add(binding.recv, Buffer::recv);
  Overlap overlap;
  if (!find_overlap(placed, overlap)) return;
  fail(Errc::buffers, "on rank ", topology.vertex.rank, " ", block_name(placed[overlap.first]),
       " and ", block_name(placed[overlap.second]),
       " overlap; a receive block must share no byte with another block");
}

}  // namespace tonari
