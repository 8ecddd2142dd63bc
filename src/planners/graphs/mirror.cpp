// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/mirror.hpp"

#include <algorithm>
#include <limits>

#include "topology/by_peer.hpp"

namespace tonari {
namespace {

std::optional<Error> out_of_range(const Vertex& vertex, int ranks) {
  const auto check = [&](const std::vector<std::int32_t>& list,
                         const char* what) -> std::optional<Error> {
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i] < -1 || list[i] >= ranks)
        return Error(Errc::argument, text(what, " ", i, " of rank ", vertex.rank, " is ", list[i],
                                          "; ranks go from 0 to ", ranks - 1));
    return std::nullopt;
  };
  const std::optional<Error> error = check(vertex.targets, "destination");
  return error ? error : check(vertex.sources, "source");
}

std::string count_of(std::span<const Word> blocks) {
  return blocks.empty() ? "no block"
                        : text(blocks.size(), blocks.size() == 1 ? " block" : " blocks");
}

// One message for each rank that is sent to; word k is about the k-th block it gets.
template <class About>
void send_per_target(BspComm& bsp, std::size_t k, const Vertex& vertex, About about) {
  const ByPeer by_target(vertex.targets);
  std::vector<Word> words;
  for (const ByPeer::Peer& target : by_target.peers()) {
    words.clear();
    for (std::uint32_t block : target.blocks) words.push_back(about(block));
    bsp.send(k, target.rank, words);
  }
}

// Tells whether these slots' origins, already known, are the blocks that come.
bool are_the_origins(const std::vector<std::uint32_t>& origins,
                     std::span<const std::uint32_t> slots, std::span<const Word> blocks) {
  std::vector<Word> known;
  for (std::uint32_t slot : slots) known.push_back(origins[slot]);
  std::sort(known.begin(), known.end());
  return std::equal(known.begin(), known.end(), blocks.begin(), blocks.end());
}

// The blocks that one rank expects of another, and those that come.
struct Meeting {
  std::int32_t from;
  std::span<const std::uint32_t> slots;
  std::span<const Word> blocks;
};

// All ranks that are expected or send, ascending.
std::vector<Meeting> meetings(const ByPeer& by_source, std::span<const BspMessage> inbox) {
  std::vector<Meeting> all;
  auto message = inbox.begin();
  const auto unexpected_below = [&](std::int32_t peer) {
    for (; message != inbox.end() && message->from < peer; ++message)
      all.push_back({message->from, {}, message->words});
  };
  for (const ByPeer::Peer& peer : by_source.peers()) {
    unexpected_below(peer.rank);
    const bool comes = message != inbox.end() && message->from == peer.rank;
    all.push_back({peer.rank, peer.blocks, comes ? (message++)->words : std::span<const Word>()});
  }
  unexpected_below(std::numeric_limits<std::int32_t>::max());
  return all;
}

std::optional<Error> take_origins(Vertex& vertex, std::span<const BspMessage> inbox) {
  const ByPeer by_source(vertex.sources);
  const bool known = !vertex.origins.empty();
  vertex.origins.resize(vertex.sources.size());
  for (const auto& [from, slots, blocks] : meetings(by_source, inbox)) {
    if (slots.size() != blocks.size())
      return Error(
          Errc::mismatch,
          text("rank ", from, " sends ", count_of(blocks), " to rank ", vertex.rank, ", but rank ",
               vertex.rank, " expects ", slots.empty() ? "none" : text(slots.size()), " from rank ",
               from, "; the lists of sources and destinations must mirror each other"));
    if (known && !are_the_origins(vertex.origins, slots, blocks))
      return Error(Errc::internal,
                   text("rank ", vertex.rank, " has wrong origins of what rank ", from, " sends"));
    if (!known)
      for (std::size_t n = 0; n < slots.size(); ++n)
        vertex.origins[slots[n]] = static_cast<std::uint32_t>(blocks[n]);
  }
  return std::nullopt;
}

std::optional<Error> find_difference(const Vertex& vertex, std::span<const BspMessage> inbox,
                                     Collective collective, const BlockSizes& sizes) {
  const ByPeer by_source(vertex.sources);
  for (const BspMessage& message : inbox) {
    std::span<std::uint32_t> slots = by_source.peers()[by_source.find(message.from)].blocks;
    std::sort(slots.begin(), slots.end(), [&](std::uint32_t a, std::uint32_t b) {
      return vertex.origins[a] < vertex.origins[b];
    });
    for (std::size_t n = 0; n < slots.size(); ++n) {
      const auto sent = static_cast<Bytes>(message.words[n]);
      const Bytes expected = sizes.recv[slots[n]];
      if (sent == expected) continue;
      const std::string which = collective == Collective::alltoall
                                    ? text("send block ", vertex.origins[slots[n]])
                                    : "its block";
      return Error(Errc::mismatch,
                   text("rank ", message.from, " sends ", sent, " bytes (", which, ") to rank ",
                        vertex.rank, ", but rank ", vertex.rank, " expects ", expected,
                        " bytes (receive block ", slots[n], "); give both ends the same size"));
    }
  }
  return std::nullopt;
}

void keep_first(std::optional<Error>& first, std::optional<Error> error) {
  if (!first && error) first = std::move(error);
}

}  // namespace

std::optional<Error> mirror(BspComm& bsp, std::span<Vertex> vertices) {
  std::optional<Error> first;
  for (const Vertex& vertex : vertices) keep_first(first, out_of_range(vertex, bsp.ranks()));
  // what others would find is a consequence
  if (bsp.max(Word{first.has_value()}) > 0) return first;

  for (std::size_t k = 0; k < vertices.size(); ++k)
    send_per_target(bsp, k, vertices[k], [](std::uint32_t block) { return Word{block}; });
  bsp.exchange();
  for (std::size_t k = 0; k < vertices.size(); ++k)
    keep_first(first, take_origins(vertices[k], bsp.inbox(k)));
  return first;
}

std::optional<Error> compare_sizes(BspComm& bsp, std::span<const Vertex> vertices,
                                   Collective collective, std::span<const BlockSizes> sizes) {
  for (std::size_t k = 0; k < vertices.size(); ++k)
    send_per_target(bsp, k, vertices[k],
                    [&, alltoall = collective == Collective::alltoall](std::uint32_t block) {
                      return static_cast<Word>(sizes[k].send[alltoall ? block : 0]);
                    });
  bsp.exchange();
  std::optional<Error> first;
  for (std::size_t k = 0; k < vertices.size(); ++k)
    keep_first(first, find_difference(vertices[k], bsp.inbox(k), collective, sizes[k]));
  return first;
}

}  // namespace tonari
