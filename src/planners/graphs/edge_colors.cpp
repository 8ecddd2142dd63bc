// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/edge_colors.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "base/hash.hpp"

namespace tonari {

std::size_t Side::edge(std::int32_t peer) const {
  return std::lower_bound(peers.begin(), peers.end(), peer) - peers.begin();
}

void Side::color(std::size_t edge, Color c) {
  colors[edge] = c;
  used.insert(c);
}

void Side::uncolor(std::size_t edge) {
  used.erase(colors[edge]);
  colors[edge] = uncolored;
}

namespace {

// Messages go both ways along an edge at once. The first bit says whether the message's sender is
// the edge's sender.
Word tagged(Word word, bool sender) { return 2 * word + sender; }
Word untagged(Word word) { return word >> 1; }
bool from_sender(const BspMessage& message) { return message.words[0] & 1; }
Side& addressee(EdgeColors& edges, std::size_t k, const BspMessage& message) {
  return (from_sender(message) ? edges.receivers : edges.senders)[k];
}

Side side_of(const std::vector<std::int32_t>& list, std::int32_t self) {
  Side side{list, {}, {}, {}};
  std::vector<std::int32_t>& peers = side.peers;
  std::erase_if(peers, [&](std::int32_t peer) { return peer < 0 || peer == self; });
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  side.colors.assign(peers.size(), uncolored);
  return side;
}

// What ends tell each other of an edge.
struct Facts {
  Word degree = 0;  // of the other end
  Word volume = 0;  // of the edge: the number of bits of its bytes
};

// Of the edges to the vertex's targets.
std::vector<Word> volumes_of(const Vertex& v, const Side& side) {
  std::vector<std::uint64_t> bytes(side.peers.size(), 0);
  for (std::size_t i = 0; i < v.bytes.size(); ++i)
    if (v.targets[i] >= 0 && v.targets[i] != v.rank) bytes[side.edge(v.targets[i])] += v.bytes[i];
  std::vector<Word> volumes;
  for (std::uint64_t b : bytes) volumes.push_back(std::bit_width(b));
  return volumes;
}

// Descending volume, where it is known: edges of about one volume then share rounds, and no rank
// waits in many rounds for a heavy one. Then descending degree, which for an edge is the sum of its
// ends' degrees; at one end only the peers' differ. Equal ones in an order that looks random, so
// that chains are short.
void sort_edges(Side& side, std::int32_t self, bool sender, const std::vector<Facts>& facts) {
  using Key = std::tuple<Word, Word, std::uint64_t, std::int32_t>;
  std::vector<Key> keys;
  for (std::size_t e = 0; e < side.peers.size(); ++e) {
    const std::int32_t from = sender ? self : side.peers[e], to = sender ? side.peers[e] : self;
    keys.emplace_back(-facts[e].volume, -facts[e].degree, Hash().word(from).word(to).value(),
                      side.peers[e]);
  }
  for (std::uint32_t e = 0; e < keys.size(); ++e) side.order.push_back(e);
  std::sort(side.order.begin(), side.order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
}

// The parallel form of greedy coloring: an edge is colored when it is the first one left at both
// ends, that is when all that meets it and comes earlier in the order is colored, so the result is
// that of the order. Each end tells the other which colors it has used as soon as the edge is its
// first, and these cannot change before that edge has its color. So an end that has heard from the
// other one goes on at once; a hub goes through all its leaves in one step.
class Greedy {
 public:
  Greedy(BspComm& bsp, EdgeColors& edges, Color palette)
      : bsp_(bsp), edges_(edges), palette_(palette) {
    for (std::size_t k = 0; k < edges.senders.size(); ++k) {
      senders_.push_back(line_up(edges.senders[k]));
      receivers_.push_back(line_up(edges.receivers[k]));
    }
  }

  void run() {
    for (std::size_t k = 0; k < senders_.size(); ++k) advance_both(k);
    while (bsp_.sum(static_cast<Word>(waiting_)) > 0)
      for (int step = 0; step < exchanges_per_check; ++step) {
        bsp_.exchange();
        for (std::size_t k : bsp_.receivers()) {
          for (const BspMessage& message : bsp_.inbox(k)) hear(k, message);
          advance_both(k);
        }
      }
  }

 private:
  static constexpr int exchanges_per_check = 4;
  // what a message says: the used ones follow; no color was free; color c, as first_color + c
  enum : Word { used_colors, no_color, first_color };
  static_assert(first_color + uncolored == no_color);

  struct Line {
    std::vector<std::uint32_t> order;      // the edges to color
    std::size_t first = 0;                 // of those left
    bool told = false;                     // the peer of the first one knows our used colors
    std::vector<std::vector<Word>> heard;  // per edge: what its peer said
  };

  Line line_up(const Side& side) {
    Line line{side.order, 0, false, std::vector<std::vector<Word>>(side.peers.size())};
    std::erase_if(line.order, [&](std::uint32_t e) { return side.colors[e] != uncolored; });
    waiting_ += line.order.size();
    return line;
  }

  void hear(std::size_t k, const BspMessage& message) {
    Line& line = (from_sender(message) ? receivers_ : senders_)[k];
    line.heard[addressee(edges_, k, message).edge(message.from)].assign(message.words.begin(),
                                                                        message.words.end());
  }

  void advance_both(std::size_t k) {
    advance(k, edges_.senders[k], senders_[k], true);
    advance(k, edges_.receivers[k], receivers_[k], false);
  }

  void advance(std::size_t k, Side& side, Line& line, bool sender) {
    for (; line.first < line.order.size(); ++line.first, line.told = false, --waiting_) {
      const std::uint32_t e = line.order[line.first];
      if (line.heard[e].empty()) {
        if (!line.told) tell_used(k, side, e, sender);
        line.told = true;
        return;
      }
      const Word said = untagged(line.heard[e][0]);
      const Color c = said == used_colors ? choose(side, line.heard[e])
                                          : static_cast<Color>(said - first_color);
      if (!line.told && said == used_colors)
        bsp_.send(k, side.peers[e], {tagged(first_color + c, sender)});
      if (c >= 0) side.color(e, c);
      std::vector<Word>().swap(line.heard[e]);
    }
  }

  Color choose(const Side& side, std::span<const Word> heard) const {
    const Color c = ColorSet::lowest_outside(side.used, ColorSet(heard.subspan(1)));
    return c < palette_ ? c : uncolored;
  }

  void tell_used(std::size_t k, const Side& side, std::uint32_t e, bool sender) {
    words_.assign(1, tagged(used_colors, sender));
    words_.insert(words_.end(), side.used.words().begin(), side.used.words().end());
    bsp_.send(k, side.peers[e], words_);
  }

  BspComm& bsp_;
  EdgeColors& edges_;
  Color palette_;
  std::vector<Line> senders_, receivers_;
  std::size_t waiting_ = 0;  // edges left, counted at both ends
  std::vector<Word> words_;
};

}  // namespace

EdgeColors uncolored_edges(BspComm& bsp, std::span<const Vertex> vertices) {
  EdgeColors edges;
  std::vector<std::vector<Word>> volumes;
  const auto tell = [&](std::size_t k, const Side& side, bool sender) {
    for (std::size_t e = 0; e < side.peers.size(); ++e)
      bsp.send(k, side.peers[e],
               {tagged(static_cast<Word>(side.peers.size()), sender), sender ? volumes[k][e] : 0});
  };
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    edges.senders.push_back(side_of(vertices[k].targets, vertices[k].rank));
    edges.receivers.push_back(side_of(vertices[k].sources, vertices[k].rank));
    volumes.push_back(volumes_of(vertices[k], edges.senders[k]));
    tell(k, edges.senders[k], true);
    tell(k, edges.receivers[k], false);
  }
  bsp.exchange();
  for (std::size_t k : bsp.receivers()) {
    Side &sender = edges.senders[k], &receiver = edges.receivers[k];
    std::vector<Facts> of_targets(sender.peers.size()), of_sources(receiver.peers.size());
    for (const BspMessage& message : bsp.inbox(k)) {
      std::vector<Facts>& facts = from_sender(message) ? of_sources : of_targets;
      facts[addressee(edges, k, message).edge(message.from)] = {untagged(message.words[0]),
                                                                message.words[1]};
    }
    for (std::size_t e = 0; e < sender.peers.size(); ++e) of_targets[e].volume = volumes[k][e];
    sort_edges(sender, vertices[k].rank, true, of_targets);
    sort_edges(receiver, vertices[k].rank, false, of_sources);
  }
  return edges;
}

void color_greedily(BspComm& bsp, EdgeColors& edges, Color palette) {
  Greedy(bsp, edges, palette).run();
}

}  // namespace tonari
