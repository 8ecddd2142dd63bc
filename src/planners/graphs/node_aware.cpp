// SPDX-License-Identifier: BSD-3-Clause
// node-aware: blocks for ranks of another node cross the network together. This is from Bienz 2019
// and Collom 2023. In the latter, an allgather's block crosses once per node as well.
//
//   three steps   There is one message per ordered pair of nodes:
//
//          node A                         node B
//          a0 --.                     .--> b0
//          a1 --> sender ====> receiver -> b1
//          a2 --'                     '--> b2
//
//   two steps     There is one message per rank and other node, and nothing is gathered:
//
//          a0 ======> gateway(a0, B) -> b0, b1, b2
//
// Both papers let ranks of equal numbers meet, or a leader do all. Both need nodes of one size or
// overload one rank. Here each pair of nodes has ranks that send and receive for it. They are those
// that have the most of its blocks themselves, up to a fair share of the pairs each. Blocks inside
// a node go direct.
#include <algorithm>
#include <map>
#include <tuple>

#include "planners/graphs/graph_planner.hpp"
#include "planners/graphs/node_pairs.hpp"
#include "topology/staggered.hpp"

namespace tonari {
namespace {

// A block that leaves for (comes from) `peer`, a rank of `node`.
struct Transfer {
  std::int32_t node, peer;
  BlockId block;
  friend auto operator<=>(const Transfer&, const Transfer&) = default;
};

struct Member {
  const Vertex* vertex;
  std::vector<Transfer> out, in;  // ascending, so grouped by node and peer
};

// Calls f with each run of transfers whose key is the same.
template <class Key, class F>
void for_each_run(std::span<const Transfer> transfers, Key key, F f) {
  for (auto begin = transfers.begin(); begin != transfers.end();) {
    const auto end = std::find_if(begin, transfers.end(),
                                  [&](const Transfer& t) { return t.*key != (*begin).*key; });
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

// Calls f(block) for the blocks that a message lists from word `first` on.
template <class F>
void for_each_block(const BspMessage& message, std::size_t first, F f) {
  for (std::size_t w = first; w < message.words.size(); w += 2)
    f(BlockId{static_cast<std::int32_t>(message.words[w]),
              static_cast<std::uint32_t>(message.words[w + 1])});
}

enum : Word { gather, scatter };  // the two kinds of messages of three_steps

class Planner {
 public:
  Planner(BspComm& bsp, std::span<const Vertex> vertices, const GraphFacts& facts,
          const GraphTask& task)
      : bsp_(bsp) {
    const std::vector<GraphVariant> direct = graph_linear.variants(bsp, vertices, facts, task);
    for (std::size_t k = 0; k < vertices.size(); ++k) members_.push_back({&vertices[k], {}, {}});
    learn_nodes(direct.front().relays());
    crossings_.resize(vertices.size());
    for (std::size_t k = 0; k < vertices.size(); ++k) crossings_[k] = list_crossings(members_[k]);
    appoint_for_nodes(bsp, vertices, crossings_);
  }

  std::vector<GraphVariant> variants(std::span<const Vertex> vertices, const GraphTask& task) {
    std::vector<GraphVariant> all;
    all.emplace_back(graph_node_aware, "three steps", vertices, task, finish(three_steps()));
    const bool gathers = passes_on(all.back().relays());
    std::vector<Relay> two = finish(two_steps());
    // Where nothing is gathered, both send the same across; where nothing is scattered, two steps
    // are linear's one.
    if (gathers && passes_on(two))
      all.emplace_back(graph_node_aware, "two steps", vertices, task, std::move(two));
    return all;
  }

 private:
  // Neighbors tell each other their nodes.
  void learn_nodes(const std::vector<Relay>& direct) {
    std::vector<std::int32_t> peers;
    for (std::size_t k = 0; k < members_.size(); ++k) {
      peers.clear();
      for (const Hop& hop : direct[k].out) peers.push_back(hop.peer);
      for (const Hop& hop : direct[k].in) peers.push_back(hop.peer);
      std::sort(peers.begin(), peers.end());
      peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
      for (std::int32_t peer : peers) bsp_.send(k, peer, {members_[k].vertex->node});
    }
    bsp_.exchange();
    for (std::size_t k : bsp_.receivers()) {
      Member& m = members_[k];
      const std::span<const BspMessage> inbox = bsp_.inbox(k);
      const auto transfer = [&](const Hop& hop) {
        const auto message =
            std::lower_bound(inbox.begin(), inbox.end(), hop.peer,
                             [](const BspMessage& l, std::int32_t peer) { return l.from < peer; });
        return Transfer{static_cast<std::int32_t>(message->words[0]), hop.peer, hop.block};
      };
      for (const Hop& hop : direct[k].out) m.out.push_back(transfer(hop));
      for (const Hop& hop : direct[k].in) m.in.push_back(transfer(hop));
      std::sort(m.out.begin(), m.out.end());
      std::sort(m.in.begin(), m.in.end());
    }
  }

  static Crossings list_crossings(const Member& m) {
    std::map<std::int32_t, Crossing> found;
    for_each_abroad(m, m.out, [&](auto run) {
      const std::int32_t node = run.front().node;
      found.try_emplace(node, Crossing{node}).first->second.blocks_out =
          static_cast<Word>(distinct_blocks(run).size());
    });
    for_each_abroad(m, m.in, [&](auto run) {
      const std::int32_t node = run.front().node;
      found.try_emplace(node, Crossing{node}).first->second.blocks_in =
          static_cast<Word>(run.size());
    });
    Crossings crossings;
    for (const auto& [node, crossing] : found) crossings.push_back(crossing);
    return crossings;
  }

  const Crossing& crossing(std::size_t k, std::int32_t node) const {
    return *std::lower_bound(crossings_[k].begin(), crossings_[k].end(), node,
                             [](const Crossing& c, std::int32_t n) { return c.node < n; });
  }

  // Stage 0: origins to the sender, and all that stays on the node; stage 1: sender to receiver;
  // stage 2: receiver to the targets. Both ends of each hop inside a node learn of it by a message
  // {gather or scatter, other node, blocks}, also to themselves; the two ends of the crossing list
  // the same blocks, the one from the origins, the other from the targets.
  std::vector<Relay> three_steps() {
    std::vector<Relay> relays = on_node();
    for (std::size_t k = 0; k < members_.size(); ++k) add_own_hops(k, relays[k]);
    bsp_.exchange();
    for (std::size_t k : bsp_.receivers())
      for (const BspMessage& message : bsp_.inbox(k)) {
        const Crossing& pair = crossing(k, static_cast<std::int32_t>(message.words[1]));
        for_each_block(message, 2, [&](BlockId block) {
          if (message.words[0] == gather) {
            if (message.from != here(k)) relays[k].in.push_back({0, message.from, block});
            relays[k].out.push_back({1, pair.receiver_there, block});
          } else {
            relays[k].in.push_back({1, pair.sender_there, block});
            if (message.from != here(k)) relays[k].out.push_back({2, message.from, block});
          }
        });
      }
    return relays;
  }
  void add_own_hops(std::size_t k, Relay& relay) {
    const Member& m = members_[k];
    for_each_abroad(m, m.out, [&](auto run) {
      const std::int32_t sender = crossing(k, run.front().node).sender_here;
      std::vector<Word> words{gather, run.front().node};
      for (BlockId block : distinct_blocks(run)) {
        append(words, block);
        if (sender != here(k)) relay.out.push_back({0, sender, block});
      }
      bsp_.send(k, sender, words);
    });
    for_each_abroad(m, m.in, [&](auto run) {
      const std::int32_t receiver = crossing(k, run.front().node).receiver_here;
      std::vector<Word> words{scatter, run.front().node};
      for (const Transfer& t : run) {
        append(words, t.block);
        if (receiver != here(k)) relay.in.push_back({2, receiver, t.block});
      }
      bsp_.send(k, receiver, words);
    });
  }

  // Stage 0: to the gateway, one of this rank's own targets on that node; stage 1: from there to
  // the others. A message {gateway, target, blocks} to both tells them what goes by whom to whom.
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
          bsp_.send(k, target, words);
          if (target != gateway) bsp_.send(k, gateway, words);
        });
      });
    bsp_.exchange();
    for (std::size_t k : bsp_.receivers())
      for (const BspMessage& message : bsp_.inbox(k)) {
        const auto gateway = static_cast<std::int32_t>(message.words[0]),
                   target = static_cast<std::int32_t>(message.words[1]);
        for_each_block(message, 2, [&](BlockId block) {
          if (gateway != here(k)) return relays[k].in.push_back({1, gateway, block});
          relays[k].in.push_back({0, message.from, block});
          if (target != gateway) relays[k].out.push_back({1, target, block});
        });
      }
    return relays;
  }

  // Of this rank's targets on one other node that with the most of its blocks. Ranks of a node that
  // have the same choice choose different ones.
  static std::int32_t choose_gateway(const Vertex& vertex, std::span<const Transfer> run) {
    std::size_t most = 0;
    std::vector<std::int32_t> best;
    for_each_run(run, &Transfer::peer, [&](auto same_target) {
      if (same_target.size() > most) best.clear();
      most = std::max(most, same_target.size());
      if (same_target.size() == most) best.push_back(same_target.front().peer);
    });
    const auto place =
        std::lower_bound(vertex.node_ranks.begin(), vertex.node_ranks.end(), vertex.rank) -
        vertex.node_ranks.begin();
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

  // In an allgather a block may have been asked for several times. Messages to other nodes leave
  // first, each kind in the staggered order.
  std::vector<Relay> finish(std::vector<Relay> relays) const {
    for (std::size_t k = 0; k < members_.size(); ++k) {
      const std::vector<std::int32_t>& mates = members_[k].vertex->node_ranks;
      for (std::vector<Hop>* hops : {&relays[k].out, &relays[k].in}) {
        std::sort(hops->begin(), hops->end());
        hops->erase(std::unique(hops->begin(), hops->end()), hops->end());
      }
      std::ranges::sort(relays[k].out, {}, [&](const Hop& hop) {
        const bool on_this_node = std::binary_search(mates.begin(), mates.end(), hop.peer);
        return std::tuple(hop.stage, on_this_node, staggered(here(k), hop.peer), hop.block);
      });
    }
    return relays;
  }

  // Tells whether any rank sends a block of another one in stage 1. Collective.
  bool passes_on(const std::vector<Relay>& relays) {
    Word found = 0;
    for (std::size_t k = 0; k < members_.size(); ++k)
      found |= std::any_of(relays[k].out.begin(), relays[k].out.end(), [&](const Hop& hop) {
        return hop.stage == 1 && hop.block.origin != here(k);
      });
    return bsp_.max(found) != 0;
  }

  std::int32_t here(std::size_t k) const { return bsp_.here()[k]; }

  BspComm& bsp_;
  std::vector<Member> members_;
  std::vector<Crossings> crossings_;
};

std::string applicable(const GraphFacts&, const GraphTask&) { return ""; }

// These say where it cannot pay. Whether it does depends on the graph and is left to pricing;
// messages between nodes are never more than linear's.
std::string pays(const GraphFacts& facts, const GraphTask& task) {
  if (facts.nodes == 1) return "all ranks are on one node";
  if (facts.most_node_ranks == 1) return "every rank has a node of its own";
  if (facts.degree() <= 1) return "no rank has more than one message to send or to receive";
  // Each block of an all-to-all takes m G of the busiest rank's time anyway, and what is passed on
  // takes it again elsewhere. At best, where one rank does all the sending, o and g per block are
  // saved: less than about an eighth beyond this size. An allgather may win at any size: a block
  // for many ranks of a node is sent there once.
  const LogGP& machine = task.machine;
  if (task.collective == Collective::alltoall &&
      task.block_bytes * machine.G > 4 * (2 * machine.o + machine.g))
    return "passing on blocks as large as these takes longer than the messages that it saves";
  return "";
}

std::vector<GraphVariant> variants(BspComm& bsp, std::span<const Vertex> vertices,
                                   const GraphFacts& facts, const GraphTask& task) {
  return Planner(bsp, vertices, facts, task).variants(vertices, task);
}

}  // namespace

const GraphPlanner graph_node_aware{"node-aware", applicable, variants, pays};

}  // namespace tonari
