// node-aware: blocks for ranks of another node cross the network together. From Bienz, Gropp and Olson, "Node aware sparse matrix-vector
// multiplication" (2019), section 4, and Collom, Li and Bienz, "Optimizing irregular communication with neighborhood collectives and locality-aware
// parallelism" (2023), section 3, where an allgather's block crosses once per node as well.
//
//          node A                         node B
//          a0 --.                     .--> b0
//          a1 --> sender ====> receiver -> b1        three steps: one message per ordered pair of nodes
//          a2 --'                     '--> b2
//
//          a0 ======> gateway(a0, B) -> b0, b1, b2   two steps: one message per rank and other node, nothing gathered
//
// The papers let ranks of equal numbers meet, or a leader do all; both need nodes of one size or overload one rank. Here the ranks that send and receive
// for a node are those that have the most blocks of that pair of nodes themselves, up to a fair share of the pairs each. Blocks inside a node go direct.
#include <algorithm>
#include <unordered_map>

#include "graphs/algorithm.hpp"

namespace tonari {
namespace {

// A block that leaves for (comes from) `peer`, a rank of `node`.
struct Transfer {
  std::int32_t node, peer;
  BlockId block;
  friend auto operator<=>(const Transfer&, const Transfer&) = default;
};

// One other node that a rank has to do with, and who stands for the two nodes in the traffic between them; -1: there is none that way.
struct Abroad {
  std::int32_t node;
  Word blocks_out = 0, blocks_in = 0;  // this rank's own, each counted once
  std::int32_t sender_here = -1, receiver_there = -1, receiver_here = -1, sender_there = -1;
};

struct Member {
  const Vertex* vertex;
  std::vector<Transfer> out, in;  // ascending, so grouped by node and peer
  std::vector<Abroad> abroad;     // ascending by node

  Abroad& with(std::int32_t node) {
    const auto at = std::lower_bound(abroad.begin(), abroad.end(), node, [](const Abroad& a, std::int32_t n) { return a.node < n; });
    return at != abroad.end() && at->node == node ? *at : *abroad.insert(at, Abroad{node});
  }
};

// Calls f with each run of transfers whose key is the same.
template <class Key, class F>
void for_each_run(std::span<const Transfer> transfers, Key key, F f) {
  for (auto begin = transfers.begin(); begin != transfers.end();) {
    const auto end = std::find_if(begin, transfers.end(), [&](const Transfer& t) { return t.*key != (*begin).*key; });
    f(std::span(begin, end));
    begin = end;
  }
}

template <class F>
void for_each_abroad(const Member& member, std::span<const Transfer> transfers, F f) {
  for_each_run(transfers, &Transfer::node, [&](std::span<const Transfer> run) {
    if (run.front().node != member.vertex->node) f(run);
  });
}

std::vector<BlockId> distinct_blocks(std::span<const Transfer> transfers) {
  std::vector<BlockId> blocks;
  for (const Transfer& t : transfers) blocks.push_back(t.block);
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  return blocks;
}

void append(std::vector<Word>& words, BlockId block) {
  words.push_back(block.origin);
  words.push_back(block.block);
}

// Calls f(block) for the blocks that a letter lists from word `first` on.
template <class F>
void for_each_block(const Letter& letter, std::size_t first, F f) {
  for (std::size_t w = first; w < letter.words.size(); w += 2)
    f(BlockId{static_cast<std::int32_t>(letter.words[w]), static_cast<std::uint32_t>(letter.words[w + 1])});
}

// What one rank has of the traffic of its node with another node, in one direction.
struct Claim {
  std::int32_t node, rank;
  Word blocks;
};

// For each other node the rank that stands for this one: most blocks first, for they need not move; but nobody gets more than a fair share of the nodes while
// others could do it. Nodes with few to choose from choose first. Ties go to the least load, then to the lowest rank (the highest: `from_below` false).
std::vector<Claim> appoint(std::vector<Claim> claims, std::size_t node_ranks, bool from_below) {
  std::sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) { return a.node != b.node ? a.node < b.node : a.rank < b.rank; });
  std::vector<std::span<const Claim>> pairs;
  for (auto begin = claims.cbegin(); begin != claims.cend();) {
    const auto end = std::find_if(begin, claims.cend(), [&](const Claim& c) { return c.node != begin->node; });
    pairs.emplace_back(begin, end);
    begin = end;
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](auto a, auto b) { return a.size() < b.size(); });
  const std::size_t fair = (pairs.size() + node_ranks - 1) / node_ranks;
  std::unordered_map<std::int32_t, std::size_t> load;
  std::vector<Claim> chosen;
  for (const std::span<const Claim> pair : pairs) {
    const auto merit = [&](const Claim& c) {
      const std::size_t l = load[c.rank];
      return std::tuple(l < fair ? 0 : l, -c.blocks, l, from_below ? c.rank : -c.rank);
    };
    chosen.push_back(*std::min_element(pair.begin(), pair.end(), [&](const Claim& a, const Claim& b) { return merit(a) < merit(b); }));
    ++load[chosen.back().rank];
  }
  return chosen;
}

class Planner {
 public:
  Planner(World& world, std::span<const Vertex> vertices, const GraphFacts& facts, const GraphTask& task) : world_(world) {
    std::vector<GraphWay> direct = graph_linear.ways(world, vertices, facts, task);
    for (std::size_t k = 0; k < vertices.size(); ++k) members_.push_back({&vertices[k], {}, {}, {}});
    learn_nodes(direct.front().relays);
  }

  std::vector<GraphWay> ways() {
    std::vector<GraphWay> all;
    agree_on_pairs();
    all.push_back({"three steps", finish(three_steps()), 0});
    const bool gathers = passes_on(all.back().relays);
    std::vector<Relay> two = finish(two_steps());
    // Where nothing is gathered, both send the same across; where nothing is scattered, two steps are linear's one.
    if (gathers && passes_on(two)) all.push_back({"two steps", std::move(two), 0});
    return all;
  }

 private:
  // Neighbours tell each other their nodes.
  void learn_nodes(const std::vector<Relay>& direct) {
    std::vector<std::int32_t> peers;
    for (std::size_t k = 0; k < members_.size(); ++k) {
      peers.clear();
      for (const Hop& hop : direct[k].out) peers.push_back(hop.peer);
      for (const Hop& hop : direct[k].in) peers.push_back(hop.peer);
      std::sort(peers.begin(), peers.end());
      peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
      for (std::int32_t peer : peers) world_.put(k, peer, {members_[k].vertex->node});
    }
    world_.exchange();
    for (std::size_t k : world_.receivers()) {
      Member& m = members_[k];
      const std::span<const Letter> mail = world_.mail(k);
      const auto transfer = [&](const Hop& hop) {
        const auto letter = std::lower_bound(mail.begin(), mail.end(), hop.peer, [](const Letter& l, std::int32_t peer) { return l.from < peer; });
        return Transfer{static_cast<std::int32_t>(letter->words[0]), hop.peer, hop.block};
      };
      for (const Hop& hop : direct[k].out) m.out.push_back(transfer(hop));
      for (const Hop& hop : direct[k].in) m.in.push_back(transfer(hop));
      std::sort(m.out.begin(), m.out.end());
      std::sort(m.in.begin(), m.in.end());
    }
  }

  // Who sends and who receives for each pair of nodes. The lowest rank of a node hears how many blocks each rank has in it - at most one entry per rank and
  // other node, far less than the edges - and appoints; the two nodes tell each other, then their ranks.
  void agree_on_pairs() {
    claim();
    world_.exchange();
    const auto claimants = appoint_here();
    world_.exchange();
    pass_on_to(claimants);
    world_.exchange();
    for (std::size_t k : world_.receivers())
      for (const Letter& letter : world_.mail(k)) {
        const auto rank = [&](std::size_t w) { return static_cast<std::int32_t>(letter.words[w]); };
        Abroad& abroad = members_[k].with(rank(0));
        abroad.sender_here = rank(1), abroad.receiver_here = rank(2), abroad.sender_there = rank(3), abroad.receiver_there = rank(4);
      }
  }

  void claim() {
    for (std::size_t k = 0; k < members_.size(); ++k) {
      Member& m = members_[k];
      for_each_abroad(m, m.out, [&](auto run) { m.with(run.front().node).blocks_out = static_cast<Word>(distinct_blocks(run).size()); });
      for_each_abroad(m, m.in, [&](auto run) { m.with(run.front().node).blocks_in = static_cast<Word>(run.size()); });
      for (const Abroad& a : m.abroad) world_.put(k, m.vertex->node, {a.node, a.blocks_out, a.blocks_in});
    }
  }

  // Per member that leads its node: other node and rank of this node, ascending.
  using Claimants = std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>>;

  Claimants appoint_here() {
    Claimants claimants(members_.size());
    for (std::size_t k : world_.receivers()) {
      std::vector<Claim> out, in;
      for (const Letter& letter : world_.mail(k)) {
        const auto node = static_cast<std::int32_t>(letter.words[0]);
        claimants[k].emplace_back(node, letter.from);
        if (letter.words[1] > 0) out.push_back({node, letter.from, letter.words[1]});
        if (letter.words[2] > 0) in.push_back({node, letter.from, letter.words[2]});
      }
      std::sort(claimants[k].begin(), claimants[k].end());
      std::unordered_map<std::int32_t, std::pair<Word, Word>> appointed;  // other node -> sender, receiver of this one
      for (const auto& [node, rank] : claimants[k]) appointed[node] = {-1, -1};
      for (const Claim& c : appoint(std::move(out), members_[k].vertex->node_ranks.size(), true)) appointed[c.node].first = c.rank;
      for (const Claim& c : appoint(std::move(in), members_[k].vertex->node_ranks.size(), false)) appointed[c.node].second = c.rank;
      for (const auto& [node, pair] : appointed) {
        world_.put(k, node, {pair.first, pair.second});
        world_.put(k, here(k), {node, pair.first, pair.second});  // kept for the next step
      }
    }
    return claimants;
  }

  void pass_on_to(const Claimants& claimants) {
    for (std::size_t k : world_.receivers()) {
      struct Pair {
        Word sender_here = -1, receiver_here = -1, sender_there = -1, receiver_there = -1;
      };
      std::unordered_map<std::int32_t, Pair> pairs;
      for (const Letter& letter : world_.mail(k))
        if (letter.from == here(k)) {
          Pair& pair = pairs[static_cast<std::int32_t>(letter.words[0])];
          pair.sender_here = letter.words[1], pair.receiver_here = letter.words[2];
        } else {
          Pair& pair = pairs[letter.from];
          pair.sender_there = letter.words[0], pair.receiver_there = letter.words[1];
        }
      for (const auto& [node, rank] : claimants[k]) {
        const Pair& pair = pairs[node];
        world_.put(k, rank, {node, pair.sender_here, pair.receiver_here, pair.sender_there, pair.receiver_there});
      }
    }
  }

  // Stage 0: origins to the sender, and all that stays on the node; stage 1: sender to receiver; stage 2: receiver to the targets. Both ends of each hop
  // inside a node learn of it by a letter {gather or scatter, other node, blocks}, also to themselves; the two ends of the crossing list the same blocks,
  // the one from the origins, the other from the targets.
  std::vector<Relay> three_steps() {
    enum : Word { gather, scatter };
    std::vector<Relay> relays = on_node();
    for (std::size_t k = 0; k < members_.size(); ++k) {
      Member& m = members_[k];
      for_each_abroad(m, m.out, [&](auto run) {
        const std::int32_t sender = m.with(run.front().node).sender_here;
        std::vector<Word> words{gather, run.front().node};
        for (BlockId block : distinct_blocks(run)) {
          append(words, block);
          if (sender != here(k)) relays[k].out.push_back({0, sender, block});
        }
        world_.put(k, sender, words);
      });
      for_each_abroad(m, m.in, [&](auto run) {
        const std::int32_t receiver = m.with(run.front().node).receiver_here;
        std::vector<Word> words{scatter, run.front().node};
        for (const Transfer& t : run) {
          append(words, t.block);
          if (receiver != here(k)) relays[k].in.push_back({2, receiver, t.block});
        }
        world_.put(k, receiver, words);
      });
    }
    world_.exchange();
    for (std::size_t k : world_.receivers())
      for (const Letter& letter : world_.mail(k)) {
        const Abroad& abroad = members_[k].with(static_cast<std::int32_t>(letter.words[1]));
        for_each_block(letter, 2, [&](BlockId block) {
          if (letter.words[0] == gather) {
            if (letter.from != here(k)) relays[k].in.push_back({0, letter.from, block});
            relays[k].out.push_back({1, abroad.receiver_there, block});
          } else {
            relays[k].in.push_back({1, abroad.sender_there, block});
            if (letter.from != here(k)) relays[k].out.push_back({2, letter.from, block});
          }
        });
      }
    return relays;
  }

  // Stage 0: to the gateway, one of this rank's own targets on that node; stage 1: from there to the others. A letter {gateway, target, blocks} to both
  // tells them what goes by whom to whom.
  std::vector<Relay> two_steps() {
    std::vector<Relay> relays = on_node();
    for (std::size_t k = 0; k < members_.size(); ++k)
      for_each_abroad(members_[k], members_[k].out, [&](auto run) {
        const std::int32_t gateway = choose_gateway(*members_[k].vertex, run);
        for (BlockId block : distinct_blocks(run)) relays[k].out.push_back({0, gateway, block});
        for_each_run(run, &Transfer::peer, [&](auto same_target) {
          const std::int32_t target = same_target.front().peer;
          std::vector<Word> words{gateway, target};
          for (const Transfer& t : same_target) append(words, t.block);
          world_.put(k, target, words);
          if (target != gateway) world_.put(k, gateway, words);
        });
      });
    world_.exchange();
    for (std::size_t k : world_.receivers())
      for (const Letter& letter : world_.mail(k)) {
        const auto gateway = static_cast<std::int32_t>(letter.words[0]), target = static_cast<std::int32_t>(letter.words[1]);
        for_each_block(letter, 2, [&](BlockId block) {
          if (gateway != here(k)) return relays[k].in.push_back({1, gateway, block});
          relays[k].in.push_back({0, letter.from, block});
          if (target != gateway) relays[k].out.push_back({1, target, block});
        });
      }
    return relays;
  }

  // Of this rank's targets on one other node that with the most of its blocks. Ranks of a node that have the same choice choose different ones.
  static std::int32_t choose_gateway(const Vertex& vertex, std::span<const Transfer> run) {
    std::size_t most = 0;
    std::vector<std::int32_t> best;
    for_each_run(run, &Transfer::peer, [&](auto same_target) {
      if (same_target.size() > most) best.clear();
      most = std::max(most, same_target.size());
      if (same_target.size() == most) best.push_back(same_target.front().peer);
    });
    const auto place = std::lower_bound(vertex.node_ranks.begin(), vertex.node_ranks.end(), vertex.rank) - vertex.node_ranks.begin();
    return best[static_cast<std::size_t>(place) % best.size()];
  }

  std::vector<Relay> on_node() const {
    std::vector<Relay> relays(members_.size());
    for (std::size_t k = 0; k < members_.size(); ++k) {
      const Member& m = members_[k];
      for (const Transfer& t : m.out)
        if (t.node == m.vertex->node) relays[k].out.push_back({0, t.peer, t.block});
      for (const Transfer& t : m.in)
        if (t.node == m.vertex->node) relays[k].in.push_back({0, t.peer, t.block});
    }
    return relays;
  }

  // In an allgather a block may have been asked for several times. Messages to other nodes leave first, and every rank begins behind itself, so that not all
  // send to the same one at a time.
  std::vector<Relay> finish(std::vector<Relay> relays) const {
    for (std::size_t k = 0; k < members_.size(); ++k) {
      const std::vector<std::int32_t>& mates = members_[k].vertex->node_ranks;
      const auto order = [&](const Hop& hop) {
        const bool near = std::binary_search(mates.begin(), mates.end(), hop.peer);
        return std::tuple(hop.stage, near, (hop.peer - here(k) + world_.ranks()) % world_.ranks(), hop.block);
      };
      for (std::vector<Hop>* hops : {&relays[k].out, &relays[k].in}) {
        std::sort(hops->begin(), hops->end(), [&](const Hop& a, const Hop& b) { return order(a) < order(b); });
        hops->erase(std::unique(hops->begin(), hops->end()), hops->end());
      }
    }
    return relays;
  }

  // Whether any rank sends a block of another one in stage 1. Collective.
  bool passes_on(const std::vector<Relay>& relays) {
    Word found = 0;
    for (std::size_t k = 0; k < members_.size(); ++k)
      found |= std::any_of(relays[k].out.begin(), relays[k].out.end(), [&](const Hop& hop) { return hop.stage == 1 && hop.block.origin != here(k); });
    return world_.max(found) != 0;
  }

  std::int32_t here(std::size_t k) const { return world_.here()[k]; }

  World& world_;
  std::vector<Member> members_;
};

// These say where it cannot pay. Whether it does depends on the graph and is left to pricing; the messages between nodes are never more than linear's.
std::string applicable(const GraphFacts& facts, const GraphTask& task) {
  if (facts.nodes == 1) return "all ranks are on one node";
  if (facts.most_node_ranks == 1) return "every rank has a node of its own";
  if (facts.degree() <= 1) return "no rank has more than one message to send or to receive";
  // Each block of an all-to-all takes m G of the busiest rank's time anyway, and what is passed on takes it again elsewhere. At best, where one rank does all the
  // sending, o and g per block are saved: less than about an eighth beyond this size. An allgather's busiest sender has fewer bytes to send, not more.
  const LogGP& machine = task.machine;
  if (task.collective == Collective::alltoall && task.block_bytes * machine.G > 4 * (2 * machine.o + machine.g))
    return "passing on blocks as large as these takes longer than the messages that it saves";
  return "";
}

std::vector<GraphWay> ways(World& world, std::span<const Vertex> vertices, const GraphFacts& facts, const GraphTask& task) {
  return Planner(world, vertices, facts, task).ways();
}

}  // namespace

const GraphAlgorithm graph_node_aware{"node-aware", "one message per pair of nodes, gathered and scattered inside (Bienz et al. 2019, Collom et al. 2023)",
                                      applicable, ways};

}  // namespace tonari
