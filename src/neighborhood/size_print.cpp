// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/size_print.hpp"

#include "base/hash.hpp"

namespace tonari {
namespace {

constexpr std::uint64_t different = largest_ballot;  // no size of a block

// The size of all blocks of this rank; a rank without edges agrees with any.
Ballot size_of_all(const Vertex& vertex, Collective collective, const Binding& binding) {
  std::optional<std::uint64_t> size;
  for (const auto& [number, bytes] : blocks_on_edges(vertex, collective, binding))
    size = size.value_or(bytes) == bytes ? bytes : different;
  return {size.value_or(0), !size};
}

}  // namespace

SizePrint::SizePrint(const LocalTopology& topology, Collective collective, const Binding& binding)
    : one_size(size_of_all(topology.vertex, collective, binding)) {
  if (!topology.near) return;
  if (numbered(topology, collective)) entries = topology.near->offsets.size();
  bool ends_match = true;
  for (std::size_t i = 0; i < binding.recv.size(); ++i)
    ends_match = ends_match && binding.recv[i].bytes == sent(collective, binding, i).bytes;
  if (ends_match)
    for (const Block& block : binding.send) listed.push_back(block.bytes);
  Hash hash;
  for (Bytes bytes : listed) hash.word(bytes);
  by_number = hash.word(ends_match).value();
}

std::optional<std::vector<Bytes>> SizePrint::sizes(const ComparedSizes& compared) const {
  if (compared.one_size && compared.size != different)
    return std::vector<Bytes>(entries, compared.size);
  if (compared.by_number && !listed.empty()) return listed;
  return std::nullopt;
}

}  // namespace tonari
