// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/volumes.hpp"

#include <algorithm>
#include <map>

namespace tonari {
namespace {

// The sizes of blocks that one rank has got from others.
using Learned = std::map<BlockId, Word>;

Word size_at(std::int32_t rank, const OwnBytes& own, const Learned& learned, BlockId block) {
  if (block.origin == rank) return static_cast<Word>(own(block.block));
  const auto found = learned.find(block);
  return found == learned.end() ? 0 : found->second;
}

Word last_stage(std::span<const Relay> relays) {
  Word last = -1;
  for (const Relay& relay : relays)
    for (const Hop& hop : relay.out) last = std::max<Word>(last, hop.stage);
  return last;
}

}  // namespace

OwnBytes::OwnBytes(const Vertex& vertex, Collective collective)
    : vertex_(&vertex), alltoall_(collective == Collective::alltoall) {
  for (std::size_t i = 0; i < vertex.bytes.size(); ++i)
    if (vertex.targets[i] >= 0) all_ = std::max(all_, vertex.bytes[i]);
}

Volumes gather_volumes(BspComm& bsp, std::span<const Vertex> vertices, Collective collective,
                       std::span<const Relay> relays) {
  std::vector<OwnBytes> own;
  for (const Vertex& v : vertices) own.emplace_back(v, collective);
  std::vector<Learned> learned(vertices.size());
  std::vector<Word> out(vertices.size(), 0), in(vertices.size(), 0);
  const Word last = bsp.max(last_stage(relays));
  for (Word stage = 0; stage <= last; ++stage) {
    for (std::size_t k = 0; k < vertices.size(); ++k) {
      std::map<std::int32_t, std::vector<Word>> messages;
      for (const Hop& hop : relays[k].out) {
        if (hop.stage != stage) continue;
        const Word bytes = size_at(vertices[k].rank, own[k], learned[k], hop.block);
        std::vector<Word>& words = messages[hop.peer];
        words.insert(words.end(), {hop.block.origin, Word{hop.block.block}, bytes});
        out[k] += bytes;
      }
      for (const auto& [peer, words] : messages) bsp.send(k, peer, words);
    }
    bsp.exchange();
    for (std::size_t k : bsp.receivers())
      for (const BspMessage& message : bsp.inbox(k))
        for (std::size_t w = 0; w < message.words.size(); w += 3) {
          learned[k][{static_cast<std::int32_t>(message.words[w]),
                      static_cast<std::uint32_t>(message.words[w + 1])}] = message.words[w + 2];
          in[k] += message.words[w + 2];
        }
  }
  Word most[] = {0, 0}, total = 0;
  for (std::size_t k = 0; k < vertices.size(); ++k)
    most[0] = std::max(most[0], out[k]), most[1] = std::max(most[1], in[k]), total += out[k];
  bsp.max(most);
  return {most[0], most[1], bsp.sum(total)};
}

}  // namespace tonari
