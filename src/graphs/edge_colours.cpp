#include "graphs/edge_colours.hpp"

#include <algorithm>
#include <tuple>

#include "base/hash.hpp"

namespace tonari {

std::size_t Side::edge(std::int32_t peer) const { return std::lower_bound(peers.begin(), peers.end(), peer) - peers.begin(); }

void Side::colour(std::size_t edge, Colour c) {
  colours[edge] = c;
  used.insert(c);
}

void Side::uncolour(std::size_t edge) {
  used.erase(colours[edge]);
  colours[edge] = uncoloured;
}

namespace {

// Letters go both ways along an edge at once: the first bit says whether the letter's sender is the edge's sender.
Word tagged(Word word, bool sender) { return 2 * word + sender; }
Word untagged(Word word) { return word >> 1; }
bool from_sender(const Letter& letter) { return letter.words[0] & 1; }
Side& addressee(EdgeColours& edges, std::size_t k, const Letter& letter) { return (from_sender(letter) ? edges.receivers : edges.senders)[k]; }

Side side_of(const std::vector<std::int32_t>& list, std::int32_t self) {
  Side side{list, {}, {}, {}};
  std::vector<std::int32_t>& peers = side.peers;
  std::erase_if(peers, [&](std::int32_t peer) { return peer < 0 || peer == self; });
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  side.colours.assign(peers.size(), uncoloured);
  return side;
}

// Descending degree, which for an edge is the sum of its ends' degrees; at one end only the peers' differ. Equal ones in an order that looks random, so that
// chains are short.
void sort_edges(Side& side, std::int32_t self, bool sender, const std::vector<Word>& degrees) {
  using Key = std::tuple<Word, std::uint64_t, std::int32_t>;
  std::vector<Key> keys;
  for (std::size_t e = 0; e < side.peers.size(); ++e) {
    const std::int32_t from = sender ? self : side.peers[e], to = sender ? side.peers[e] : self;
    keys.emplace_back(-degrees[e], Hash().word(from).word(to).value(), side.peers[e]);
  }
  for (std::uint32_t e = 0; e < keys.size(); ++e) side.order.push_back(e);
  std::sort(side.order.begin(), side.order.end(), [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
}

// The parallel form of greedy colouring: an edge is coloured when it is the first one left at both ends, that is when all that meets it and comes earlier in
// the order is coloured, so the result is that of the order. Each end tells the other which colours it has used as soon as the edge is its first, and these
// cannot change before that edge has its colour. So an end that has heard from the other one goes on at once; a hub goes through all its leaves in one step.
class Greedy {
 public:
  Greedy(World& world, EdgeColours& edges, Colour palette) : world_(world), edges_(edges), palette_(palette) {
    for (std::size_t k = 0; k < edges.senders.size(); ++k) {
      senders_.push_back(line_up(edges.senders[k]));
      receivers_.push_back(line_up(edges.receivers[k]));
    }
  }

  void run() {
    for (std::size_t k = 0; k < senders_.size(); ++k) advance_both(k);
    while (world_.sum(static_cast<Word>(waiting_)) > 0)
      for (int step = 0; step < exchanges_per_check; ++step) {
        world_.exchange();
        for (std::size_t k : world_.receivers()) {
          for (const Letter& letter : world_.mail(k)) hear(k, letter);
          advance_both(k);
        }
      }
  }

 private:
  static constexpr int exchanges_per_check = 4;
  enum : Word { used_colours, no_colour, first_colour };  // what a letter says: the used ones follow; no colour was free; colour c, as first_colour + c
  static_assert(first_colour + uncoloured == no_colour);

  struct Line {
    std::vector<std::uint32_t> order;       // the edges to colour
    std::size_t first = 0;                  // of those left
    bool told = false;                      // the peer of the first one knows our used colours
    std::vector<std::vector<Word>> heard;   // per edge: what its peer said
  };

  Line line_up(const Side& side) {
    Line line{side.order, 0, false, std::vector<std::vector<Word>>(side.peers.size())};
    std::erase_if(line.order, [&](std::uint32_t e) { return side.colours[e] != uncoloured; });
    waiting_ += line.order.size();
    return line;
  }

  void hear(std::size_t k, const Letter& letter) {
    Line& line = (from_sender(letter) ? receivers_ : senders_)[k];
    line.heard[addressee(edges_, k, letter).edge(letter.from)].assign(letter.words.begin(), letter.words.end());
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
      const Colour c = said == used_colours ? choose(side, line.heard[e]) : static_cast<Colour>(said - first_colour);
      if (!line.told && said == used_colours) world_.put(k, side.peers[e], {tagged(first_colour + c, sender)});
      if (c >= 0) side.colour(e, c);
      std::vector<Word>().swap(line.heard[e]);
    }
  }

  Colour choose(const Side& side, std::span<const Word> heard) const {
    const Colour c = ColourSet::lowest_outside(side.used, ColourSet(heard.subspan(1)));
    return c < palette_ ? c : uncoloured;
  }

  void tell_used(std::size_t k, const Side& side, std::uint32_t e, bool sender) {
    words_.assign(1, tagged(used_colours, sender));
    words_.insert(words_.end(), side.used.words().begin(), side.used.words().end());
    world_.put(k, side.peers[e], words_);
  }

  World& world_;
  EdgeColours& edges_;
  Colour palette_;
  std::vector<Line> senders_, receivers_;
  std::size_t waiting_ = 0;  // edges left, counted at both ends
  std::vector<Word> words_;
};

}  // namespace

EdgeColours uncoloured_edges(World& world, std::span<const Vertex> vertices) {
  EdgeColours edges;
  const auto tell_degree = [&](std::size_t k, const Side& side, bool sender) {
    for (std::int32_t peer : side.peers) world.put(k, peer, {tagged(static_cast<Word>(side.peers.size()), sender)});
  };
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    edges.senders.push_back(side_of(vertices[k].targets, vertices[k].rank));
    edges.receivers.push_back(side_of(vertices[k].sources, vertices[k].rank));
    tell_degree(k, edges.senders[k], true);
    tell_degree(k, edges.receivers[k], false);
  }
  world.exchange();
  for (std::size_t k : world.receivers()) {
    Side &sender = edges.senders[k], &receiver = edges.receivers[k];
    std::vector<Word> of_targets(sender.peers.size()), of_sources(receiver.peers.size());
    for (const Letter& letter : world.mail(k)) {
      std::vector<Word>& degrees = from_sender(letter) ? of_sources : of_targets;
      degrees[addressee(edges, k, letter).edge(letter.from)] = untagged(letter.words[0]);
    }
    sort_edges(sender, vertices[k].rank, true, of_targets);
    sort_edges(receiver, vertices[k].rank, false, of_sources);
  }
  return edges;
}

void colour_greedily(World& world, EdgeColours& edges, Colour palette) { Greedy(world, edges, palette).run(); }

}  // namespace tonari
