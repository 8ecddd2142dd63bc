// SPDX-License-Identifier: BSD-3-Clause
// tree: ranks with many messages hand some of them to ranks with few, which pass the blocks on
// (Hoefler 2012, §II-B1). They do so again and again, so that a hot spot ends with a tree of
// several levels:
//
//   Step 1   Find the rank p_m with the most outgoing messages, m, and p_s with the fewest, s.
//   Step 2   If m - s > t and it gains, p_m moves x messages to p_s and sends it one with all their
//            blocks. Else stop.
//
//   p_m ─┬──▶ a            p_m ─┬═══▶ p_s ─┬──▶ c
//        ├──▶ p_s     becomes   └──▶ a     └──▶ b
//        ├──▶ b
//        └──▶ c
//
// The number x depends on the variant:
//   "paper"           In an all-to-all, x = (m+s)/2 - s - ceil(L/o).
//                     In an allgather, x = (m-s)/2 - ceil(L/(o+(k-1)G)).
//   "balanced", ours  In the optimal LogGP tree (loggp_tree.hpp), x is where both are done at the
//                     same time.
//
// Hoefler 2012 leaves some points open, and this deviates in others:
//   Counting   The message from p_m to p_s counts among its m, unless p_s is a receiver already:
//              then that message becomes the bundle.
//   Stopping   A move must leave p_m with fewer messages than before and p_s with fewer than p_m
//              had. A p_m may have no such move: nothing is movable, or the bytes cost more than
//              they save. It is not asked again, and the next busiest has its turn.
//              This ends, as a list of the counts of all ranks in descending order shows. A move
//              replaces m and s by two numbers below m, so the list falls lexicographically. Lists
//              of natural numbers of one length cannot do that for ever. In every iteration the
//              first pair moves, or its p_m fails, which it may do three times.
//   Taking     Ranks that have given take nothing any more (send_state.hpp).
//   Pairs      With less than 32 ranks there is one pair per iteration, as in Hoefler 2012. Else up
//              to q busy ranks meet q idle ones, where q = ranks / 16, at most 64. One reduction
//              finds them (distributed_top_k.hpp). The O(log P) iterations of Hoefler 2012 for a
//              hot spot need pairs, too: else a tree takes an iteration per helper.
//   Bytes      In an all-to-all, blocks that take a detour are sent and copied twice. Light ones
//              move first, where ranks know the sizes of their blocks, and only where that costs
//              less than the overheads it saves. A "paper" tree that is forced does not ask for
//              that.
//   Forced     Where L / o is so large that nothing would move at all, a tree that is forced is
//              planned as if L, G and copies were 0: its shape is that of the paper then, too.
//   Neighbors  Hoefler 2012 takes the globally idlest rank. An allgather that is passed on by a
//              rank that wants the block itself costs no block more. So p_m asks its receivers (up
//              to 32 at a time), too. It takes the one with the most gain, if that is at least half
//              the gain of p_s; "balanced" does so in both collectives. A rank grants one asker per
//              iteration. With p_s the volume grows by one block, else not at all.
#include <algorithm>
#include <cmath>
#include <optional>

#include "planners/graphs/distributed_top_k.hpp"
#include "planners/graphs/graph_planner.hpp"
#include "planners/graphs/loggp_tree.hpp"
#include "planners/graphs/send_state.hpp"

namespace tonari {
namespace {

constexpr Word t = 2;  // as in all of the paper's experiments

// A move that p_m considers.
struct Case {
  Word messages, leaves;  // of p_m
  Word load;              // of the helper
  SendState::Relation to;
  const std::vector<double>& bytes;  // [x]: of the x lightest leaves that could move
  // of x leaves, in an all-to-all
  double volume(Word x) const { return bytes[static_cast<std::size_t>(std::min(x, leaves))]; }
};

// Step 2: how many messages move. The same on all ranks.
class Share {
 public:
  virtual ~Share() = default;
  virtual Word amount(const Case& move) = 0;
  virtual Word load(const SendState& state) const = 0;  // how busy a helper would be
  // whether anything could move from a rank with m messages at all
  virtual bool promising(Word m, Word load) const = 0;
  virtual bool asks() const = 0;  // whether p_m asks its receivers, too
};

Word bounded(double messages) {
  return messages < 1e9 ? static_cast<Word>(std::ceil(messages)) : Word{1000000000};
}

class PaperShare final : public Share {
 public:
  explicit PaperShare(const GraphTask& task)
      : task_(task), alltoall_(task.collective == Collective::alltoall) {
    const LogGP& m = task.machine;
    const double long_o = m.o + std::max(0.0, task.block_bytes - 1) * m.G;
    meanwhile_ = bounded(m.L / (alltoall_ ? m.o : long_o));
    saved_ = std::max(m.o, alltoall_ ? m.g : m.g + long_o - m.o);
  }
  Word amount(const Case& move) override {
    const Word x = std::min(term(move.messages, move.load), move.to.movable);
    return pays(move, x) ? x : pays(move, eager(move, x)) ? eager(move, x) : 0;
  }
  Word load(const SendState& state) const override { return state.messages(); }
  bool promising(Word m, Word load) const override { return m - load > t && term(m, load) > 0; }
  bool asks() const override { return !alltoall_; }

 private:
  Word term(Word m, Word s) const { return (m - s) / 2 - meanwhile_; }
  // With p_s's own block the bundle is not longer than an eager message.
  Word eager(const Case& move, Word x) const {
    if (!alltoall_) return x;
    const double room = static_cast<double>(task_.machine.eager) - task_.block_bytes;
    const auto beyond = std::upper_bound(move.bytes.begin(), move.bytes.end(), room);
    return std::min(x, static_cast<Word>(beyond - move.bytes.begin()) - 1);
  }
  // Overheads that p_m saves against what the additional hops of blocks cost, in bytes and waiting.
  bool pays(const Case& move, Word x) const {
    if (x <= 0) return false;
    if (task_.forced) return true;  // Hoefler 2012 has no such condition
    const double eager = static_cast<double>(task_.machine.eager),
                 bundle = task_.block_bytes + (alltoall_ ? move.volume(x) : 0);
    const double waiting =
        bundle > eager && task_.block_bytes <= eager ? task_.machine.rendezvous : 0;
    const double passed =
        alltoall_ ? move.volume(x) : static_cast<double>(move.to.new_block) * task_.block_bytes;
    const double more = passed * task_.forwarding_byte() + waiting;
    return static_cast<double>(x - move.to.new_message) * saved_ > more;
  }

  GraphTask task_;
  bool alltoall_;
  Word meanwhile_;  // messages that p_m sends until p_s can start
  double saved_;    // seconds per message
};

// A helper has time for its own messages, in and out, until the bundle arrives. If it takes for a
// second time, that time has been given away already.
class BalancedShare final : public Share {
 public:
  BalancedShare(const GraphTask& task, const GraphFacts& facts)
      : machine_(task.machine),
        sized_(facts.sized && task.collective == Collective::alltoall),
        forwarding_byte_(task.forwarding_byte()),
        saved_(std::max(task.machine.o, task.machine.g)),
        tree_(task.collective, task.machine, task.block_bytes),
        least_(tree_.least(facts.most_out)) {
    meanwhile_ = bounded(1 + machine_.L / machine_.o);
  }
  Word amount(const Case& move) override {
    const bool receiver = move.to.receiver;
    const double busy = static_cast<double>(move.load - receiver) * machine_.o,
                 delay = std::max(0.0, busy - machine_.o - machine_.L);
    auto [x, time] = tree_.branch(move.leaves, move.to.movable, receiver, delay);
    // the tree's blocks are of average size; heavy ones stay
    while (sized_ && x > 0 && move.volume(x) * forwarding_byte_ >= static_cast<double>(x) * saved_)
      --x;
    return time < tree_.direct(move.leaves) ? x : 0;
  }
  Word load(const SendState& state) const override {
    return state.messages() + state.sources() + (state.takes() ? meanwhile_ : 0);
  }
  bool promising(Word m, Word load) const override { return m > load && least_ > 0 && m >= least_; }
  bool asks() const override { return true; }

 private:
  LogGP machine_;
  bool sized_;  // blocks differ
  double forwarding_byte_, saved_;
  LogGPTree tree_;
  Word least_;      // messages from which on help pays
  Word meanwhile_;  // messages that a helper has time for until a bundle arrives
};

// A helper that could be had.
struct Offer {
  std::int32_t rank;
  Word messages, load;
  bool gets;  // allgather: the block, from elsewhere
};

class Transformation {
 public:
  Transformation(BspComm& bsp, std::span<const Vertex> vertices, const GraphTask& task,
                 Share& share)
      : bsp_(bsp),
        share_(share),
        alltoall_(task.collective == Collective::alltoall),
        high_(bsp, pairs(bsp)),
        low_(bsp, pairs(bsp)),
        seekers_(vertices.size(), nobody),
        failures_(vertices.size(), 0),
        asked_(vertices.size(), 0) {
    for (const Vertex& v : vertices) states_.emplace_back(v, task.collective, task.block_bytes);
    for (std::size_t k = 0; k < states_.size(); ++k) update(k);
  }

  std::vector<Relay> run() {
    for (;;) {
      found_ = find(bsp_, high_, low_);
      for (DistributedTopK::Entry& entry : found_.low) entry.value = -entry.value;
      if (found_.high.empty() || found_.low.empty() ||
          !share_.promising(found_.high[0].value, found_.low[0].value))
        break;
      iterate();
    }
    return relays();
  }

 private:
  static constexpr int nobody = -1, patience = 3;
  static constexpr std::size_t most_asked = 32;
  static std::size_t pairs(const BspComm& bsp) {
    return static_cast<std::size_t>(std::clamp(bsp.ranks() / 16, 1, 64));
  }

  std::optional<std::size_t> index(std::int32_t rank) const {
    const auto place = std::lower_bound(bsp_.here().begin(), bsp_.here().end(), rank);
    return place != bsp_.here().end() && *place == rank
               ? std::optional(static_cast<std::size_t>(place - bsp_.here().begin()))
               : std::nullopt;
  }

  void update(std::size_t k) {
    high_.set(k, failures_[k] < patience ? states_[k].messages() : DistributedTopK::none);
    low_.set(k, states_[k].gives() ? DistributedTopK::none : -share_.load(states_[k]));
  }

  void iterate() {
    seeking_.clear();
    for (int i = 0; i < static_cast<int>(found_.high.size()); ++i) {
      const auto k = index(found_.high[i].rank);
      if (!k || !share_.promising(found_.high[i].value, found_.low[0].value)) continue;
      seeking_.push_back({*k, states_[*k].movable()});
      seekers_[*k] = i;
    }
    if (share_.asks()) ask();
    for (const auto& [k, movable] : seeking_) seek(k, movable);
    bsp_.exchange();
    for (std::size_t k : bsp_.receivers()) {
      for (const BspMessage& message : bsp_.inbox(k)) states_[k].take(message.words);
      update(k);
    }
    for (const auto& [k, movable] : seeking_) seekers_[k] = nobody;
  }

  // p_m to its receivers, every time to others if there are many, and to p_s: may you help?
  // Everyone grants one.
  void ask() {
    for (const auto& [k, movable] : seeking_) {
      const Word i = seekers_[k], origin = movable.block.origin;
      const std::vector<std::int32_t> receivers = states_[k].receivers();
      const std::size_t stride = receivers.size() / most_asked + 1,
                        first = (static_cast<std::size_t>(bsp_.here()[k]) + asked_[k]++) % stride;
      for (std::size_t r = first; r < receivers.size(); r += stride)
        bsp_.send(k, receivers[r], {i, origin});
      if (idlest(i)) bsp_.send(k, idlest(i)->rank, {i, origin});
    }
    bsp_.exchange();
    for (std::size_t k : bsp_.receivers()) {
      const SendState& state = states_[k];
      if (state.gives() || seekers_[k] != nobody) continue;
      const BspMessage& chosen = chosen_asker(k);
      bsp_.send(k, chosen.from,
                {state.messages(), share_.load(state),
                 !alltoall_ && state.gets(static_cast<std::int32_t>(chosen.words[1]))});
    }
    bsp_.exchange();
  }

  // Its own p_m, if it is one of the idlest; else askers share those whom they ask evenly.
  const BspMessage& chosen_asker(std::size_t k) const {
    const auto inbox = bsp_.inbox(k);
    const std::int32_t rank = bsp_.here()[k];
    const auto own = std::find_if(inbox.begin(), inbox.end(), [&](const BspMessage& ask) {
      return idlest(ask.words[0]) && idlest(ask.words[0])->rank == rank;
    });
    return own != inbox.end() ? *own : inbox[static_cast<std::size_t>(rank) % inbox.size()];
  }

  const DistributedTopK::Entry* idlest(Word i) const {
    return i < static_cast<Word>(found_.low.size()) ? &found_.low[i] : nullptr;
  }

  std::vector<Offer> offers(std::size_t k) const {
    std::vector<Offer> all;
    if (share_.asks()) {
      for (const BspMessage& message : bsp_.inbox(k))
        all.push_back({message.from, message.words[0], message.words[1], message.words[2] != 0});
    } else if (const auto* lowest = idlest(seekers_[k])) {
      all.push_back({lowest->rank, lowest->value, lowest->value, false});
    }
    return all;
  }

  // Moves to the best of those that offer help, or gives up for now, or, if that happens too often,
  // for ever.
  void seek(std::size_t k, const SendState::Movable& movable) {
    struct Move {
      Word gain = 0, x = 0, load = 0;
      std::int32_t rank = -1;
    } neighbor, stranger;
    bool idle = false;  // whether there was an offer than which there is none better
    for (const Offer& offer : offers(k)) {
      const SendState::Relation to = states_[k].relation(offer.rank, movable);
      if (offer.rank == bsp_.here()[k] || (to.new_block && offer.gets)) continue;
      idle = idle || offer.load <= found_.low[0].value;
      const Word x = amount(states_[k], offer, to, movable), gain = x - to.new_message;
      Move& best = (alltoall_ ? to.new_message : to.new_block) ? stranger : neighbor;
      if (gain > best.gain || (gain == best.gain && gain > 0 && offer.load < best.load))
        best = {gain, x, offer.load, offer.rank};
    }
    const Move& best = 2 * neighbor.gain >= stranger.gain ? neighbor : stranger;
    if (best.gain > 0)
      bsp_.send(k, best.rank, states_[k].give(best.rank, movable, best.x));
    else if (alone())
      failures_[k] = patience;
    else
      failures_[k] += idle || seekers_[k] == 0;
    update(k);
  }

  // True if there is only one p_m in this iteration: it had the best there is.
  bool alone() const {
    return found_.high.size() == 1 || !share_.promising(found_.high[1].value, found_.low[0].value);
  }

  Word amount(const SendState& state, const Offer& offer, const SendState::Relation& to,
              const SendState::Movable& movable) {
    const Word x = share_.amount({state.messages(), state.leaves(), offer.load, to, movable.bytes});
    return std::min(x, state.messages() - 1 - offer.messages);
  }

  // Every receiver learns from whom, and in which stage, its blocks come.
  std::vector<Relay> relays() {
    std::vector<Relay> all(states_.size());
    for (std::size_t k = 0; k < states_.size(); ++k) {
      all[k].out = states_[k].hops();
      for (const Hop& hop : all[k].out)
        bsp_.send(k, hop.peer, {hop.stage, hop.block.origin, static_cast<Word>(hop.block.block)});
    }
    bsp_.exchange();
    for (std::size_t k : bsp_.receivers())
      for (const BspMessage& message : bsp_.inbox(k))
        all[k].in.push_back({static_cast<std::int32_t>(message.words[0]),
                             message.from,
                             {static_cast<std::int32_t>(message.words[1]),
                              static_cast<std::uint32_t>(message.words[2])}});
    return all;
  }

  struct Seeker {
    std::size_t k;
    SendState::Movable movable;
  };
  BspComm& bsp_;
  Share& share_;
  bool alltoall_;
  std::vector<SendState> states_;
  DistributedTopK high_, low_;
  Found found_;
  std::vector<Seeker> seeking_;  // the p_m here
  std::vector<int> seekers_;     // per rank here: its number among all p_m, the busiest first
  std::vector<int> failures_;
  std::vector<std::size_t> asked_;  // how often it asked
};

std::string applicable(const GraphFacts&, const GraphTask&) { return ""; }

std::string pays(const GraphFacts& facts, const GraphTask& task) {
  if (facts.most_out <= t) return "no rank sends to more than 2 others";
  if (facts.pairs == facts.ranks * facts.most_out) return "all ranks send to equally many others";
  // where blocks differ, the light ones may move
  if (task.collective == Collective::alltoall && !facts.sized &&
      task.forwarding() >= std::max(task.machine.o, task.machine.g))
    return "blocks are so large that passing them on costs more than the overhead of a message";
  const bool paper = PaperShare(task).promising(facts.most_out, 0),
             balanced = BalancedShare(task, facts).promising(facts.most_out, 0);
  return paper || balanced ? "" : "the busiest rank sends too few messages to gain by help";
}

// Whether any rank passes a block on. Collective.
bool passes_on(BspComm& bsp, const std::vector<Relay>& relays) {
  return bsp.max(Word{std::ranges::any_of(relays, [](const Relay& relay) {
    return std::ranges::any_of(relay.out, [](const Hop& hop) { return hop.stage > 0; });
  })}) != 0;
}

// share_of makes the share for a task.
std::vector<Relay> transform(BspComm& bsp, std::span<const Vertex> vertices, const GraphTask& task,
                             auto&& share_of) {
  auto share = share_of(task);
  std::vector<Relay> relays = Transformation(bsp, vertices, task, share).run();
  if (!task.forced || passes_on(bsp, relays)) return relays;
  auto any_share = share_of(counting_messages(task));
  return Transformation(bsp, vertices, task, any_share).run();
}

std::vector<GraphVariant> variants(BspComm& bsp, std::span<const Vertex> vertices,
                                   const GraphFacts& facts, const GraphTask& task) {
  std::vector<GraphVariant> all;
  all.emplace_back(
      graph_tree, "paper", vertices, task,
      transform(bsp, vertices, task, [](const GraphTask& t) { return PaperShare(t); }));
  all.emplace_back(
      graph_tree, "balanced", vertices, task,
      transform(bsp, vertices, task, [&](const GraphTask& t) { return BalancedShare(t, facts); }));
  return all;
}

}  // namespace

const GraphPlanner graph_tree{"tree", applicable, variants, pays};

}  // namespace tonari
