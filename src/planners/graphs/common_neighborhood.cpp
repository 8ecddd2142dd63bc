// SPDX-License-Identifier: BSD-3-Clause
// common-neighborhood (allgather): two ranks with targets in common give each other their blocks,
// and each sends both to its share of those targets: about half the messages, the same bytes. From
// Ghazimirsaeed, Mirsadeghi and Afsahi, "An efficient collaborative communication mechanism for MPI
// neighborhood collectives" (2019).
//
//          u ---> t1, t2, t3, t4              u ---> t1, t2       (blocks of u and v)
//          v ---> t1, t2, t3, t4     becomes  u <--> v
//                                             v ---> t3, t4       (blocks of u and v)
//
// The paper forms groups of k ranks by thresholds on the overlap. Here partners are matched again
// and again: what a rank then sends to one target may be the blocks of 2, 4, 8 ... ranks already.
// What two ranks hold for a common target is disjoint at any time, so every target still gets each
// block once. Partners split their common targets by rank, so the same half falls to ranks that can
// be partners next.
#include <algorithm>
#include <iterator>
#include <limits>

#include "planners/graphs/graph_planner.hpp"
#include "topology/staggered.hpp"

namespace tonari {
namespace {

constexpr int most_levels = 5;  // groups of 32
// a target introduces each of its senders to so many on either side in the order of ranks
constexpr std::size_t reach = 4;
constexpr std::size_t most_candidates = 16;
constexpr int most_matchings = 8;
constexpr const char* nobody_shares = "nobody shares";  // the variant where no two ranks do

// An entry of a rank's send set: the block of `origin` to `target`.
struct Item {
  std::int32_t target, origin;
  friend auto operator<=>(const Item&, const Item&) = default;
};
using Items = std::vector<Item>;          // ascending: a message is a run of equal targets
using Ranks = std::vector<std::int32_t>;  // ascending

bool contains(const Ranks& ranks, std::int32_t rank) {
  return std::binary_search(ranks.begin(), ranks.end(), rank);
}

Ranks targets_of(const Items& items) {
  Ranks targets;
  for (const Item& item : items)
    if (targets.empty() || targets.back() != item.target) targets.push_back(item.target);
  return targets;
}

// The part of LogGP that this is about.
struct Price {
  double message, block, latency, receive;

  explicit Price(const GraphTask& task)
      : message(std::max(task.machine.o, task.machine.g)),
        block(task.block_bytes * task.machine.G),
        latency(task.machine.L),
        receive(task.machine.o) {}

  // With fewer common targets no two ranks can win: at best each saves one of them a message, and
  // one block goes between the two.
  std::size_t least_common() const {
    if (message <= 0) return std::numeric_limits<std::size_t>::max();
    return std::max<std::size_t>(
        2, static_cast<std::size_t>(std::min((latency + block) / message, 1e9)) + 1);
  }
};

// One of two partners, before and after they share.
struct Partner {
  std::int32_t rank;
  Items items;
  Ranks held;     // origins of the blocks that it has
  Ranks given{};  // ... that the other one gives it
};

// Moves what `from` has for `targets` to `to`, with what is for `to` itself. Blocks that `to` has
// already need not travel.
void hand_over(Partner& from, Partner& to, const Ranks& targets) {
  Items kept, own;
  for (const Item& item : from.items) {
    if (item.target == to.rank) {
      if (!contains(to.held, item.origin)) own.push_back(item);
    } else if (contains(targets, item.target)) {
      to.items.push_back(item);
      if (!contains(to.held, item.origin)) to.given.push_back(item.origin);
    } else {
      kept.push_back(item);
    }
  }
  // What is for the partner itself goes along; if there is no message to it in this step, it comes
  // in the end like everything else.
  if (to.given.empty())
    kept.insert(kept.end(), own.begin(), own.end());
  else
    for (const Item& item : own) to.given.push_back(item.origin);
  std::sort(kept.begin(), kept.end());
  std::sort(to.given.begin(), to.given.end());
  to.given.erase(std::unique(to.given.begin(), to.given.end()), to.given.end());
  from.items = std::move(kept);
}

// Each takes a part of the common targets such that both have about as many messages to send; the
// lower rank those of lower rank. If that would not be faster for the slower of the two: false, and
// nothing changes. Both partners do this on their own, with the same arguments.
bool share(Partner& low, Partner& high, const Price& price) {
  const Ranks low_targets = targets_of(low.items), high_targets = targets_of(high.items);
  Ranks common;
  std::set_intersection(low_targets.begin(), low_targets.end(), high_targets.begin(),
                        high_targets.end(), std::back_inserter(common));
  const auto alone = [&](const Ranks& targets, std::int32_t other) {
    return static_cast<std::ptrdiff_t>(targets.size()) -
           static_cast<std::ptrdiff_t>(common.size()) - contains(targets, other);
  };
  const std::ptrdiff_t low_alone = alone(low_targets, high.rank),
                       high_alone = alone(high_targets, low.rank);
  const auto all = static_cast<std::ptrdiff_t>(common.size());
  const std::ptrdiff_t middle =
      std::clamp<std::ptrdiff_t>((high_alone + all - low_alone + 1) / 2, 0, all);

  Partner new_low = low, new_high = high;
  hand_over(new_low, new_high, {common.begin() + middle, common.end()});
  hand_over(new_high, new_low, {common.begin(), common.begin() + middle});
  std::sort(new_low.items.begin(), new_low.items.end());
  std::sort(new_high.items.begin(), new_high.items.end());

  const auto sending = [&](const Items& items) {
    return static_cast<double>(targets_of(items).size()) * price.message +
           static_cast<double>(items.size()) * price.block;
  };
  const auto sharing = [&](const Partner& self, const Partner& other) {
    return sending(self.items) + static_cast<double>(other.given.size()) * price.block +
           (other.given.empty() ? 0 : price.message) +
           (self.given.empty() ? 0 : price.receive + price.latency);
  };
  if (std::max(sending(low.items), sending(high.items)) <=
      std::max(sharing(new_low, new_high), sharing(new_high, new_low)))
    return false;
  low = std::move(new_low);
  high = std::move(new_high);
  return true;
}

// The knowledge of one rank.
struct Member {
  Items items;  // still to be sent
  Ranks held;
  Relay relay;  // the hops between partners so far

  // While partners are looked for
  Ranks senders;         // who has something for this rank, of those that look
  Ranks candidates;      // best first
  std::size_t next = 0;  // the best that is still free, as far as known
  std::int32_t partner = -1;

  bool looking() const { return partner < 0 && next < candidates.size(); }
};

class Planner {
 public:
  Planner(BspComm& bsp, std::span<const Vertex> vertices, const GraphFacts& facts,
          const GraphTask& task)
      : bsp_(bsp), price_(task) {
    const std::vector<GraphVariant> direct = graph_linear.variants(bsp, vertices, facts, task);
    members_.resize(vertices.size());
    for (std::size_t k = 0; k < members_.size(); ++k) {
      for (const Hop& hop : direct.front().relays()[k].out)
        members_[k].items.push_back({hop.peer, here(k)});
      std::sort(members_[k].items.begin(), members_[k].items.end());
      members_[k].held = {here(k)};
    }
  }

  std::vector<GraphVariant> variants(std::span<const Vertex> vertices, const GraphTask& task) {
    std::vector<GraphVariant> all;
    const auto add = [&](const std::string& variant, int stage) {
      all.emplace_back(graph_common_neighborhood, variant, vertices, task, deliver(stage));
    };
    for (int level = 0; level < most_levels; ++level) {
      find_candidates();
      match();
      if (!share_with_partners(level)) break;
      add(level == 0 ? "pairs" : "groups of " + std::to_string(2 << level), level + 1);
    }
    if (all.empty()) add(nobody_shares, 0);
    return all;
  }

 private:
  // Ranks learn of each other through their targets, which introduce each sender to a few only:
  // work stays near the number of edges. All targets list their senders by rank, so that two who
  // have many targets in common and lie near each other among them hear of each other again and
  // again.
  void find_candidates() {
    for (std::size_t k = 0; k < members_.size(); ++k) {
      Member& m = members_[k];
      m.senders.clear(), m.candidates.clear(), m.next = 0, m.partner = -1;
      const Ranks targets = targets_of(m.items);
      if (targets.size() < price_.least_common()) continue;
      for (std::int32_t target : targets) bsp_.send(k, target, {static_cast<Word>(targets.size())});
    }
    bsp_.exchange();
    introduce();
    bsp_.exchange();
    for (std::size_t k : bsp_.receivers()) list_candidates(k);
  }

  void introduce() {
    std::vector<Word> others;
    for (std::size_t k : bsp_.receivers()) {
      const std::span<const BspMessage> inbox = bsp_.inbox(k);
      const std::size_t n = inbox.size();
      // The rank below, the number of its targets above: sorted by rank.
      const auto about = [&](std::size_t i) {
        return inbox[i % n].words[0] << 32 | inbox[i % n].from;
      };
      for (const BspMessage& message : inbox) members_[k].senders.push_back(message.from);
      for (std::size_t i = 0; i < n && n > 1; ++i) {
        others.clear();
        // Symmetric, and nobody twice: places i - reach .. i + reach on a ring, or all.
        const std::size_t before = std::min(reach, (n - 1) / 2), after = std::min(reach, n / 2);
        for (std::size_t d = 1; d <= after; ++d) others.push_back(about(i + d));
        for (std::size_t d = 1; d <= before; ++d) others.push_back(about(i + n - d));
        bsp_.send(k, inbox[i].from, others);
      }
    }
  }

  // By twice the messages that the busier of the two would save, if they share evenly; a target
  // that is the partner itself costs nothing extra. So a rank that is busier than the others, or
  // found no partner before, is helped first. Ties go to the nearest in the sense of a hypercube.
  // This order is the same seen from both sides and has no circles.
  void list_candidates(std::size_t k) {
    Member& m = members_[k];
    const Ranks targets = targets_of(m.items);
    std::vector<Word> met;
    for (const BspMessage& message : bsp_.inbox(k))
      met.insert(met.end(), message.words.begin(), message.words.end());
    std::sort(met.begin(), met.end());
    struct Candidate {
      std::int64_t saved;
      std::int32_t distance, rank;
    };
    std::vector<Candidate> found;
    for (auto begin = met.begin(); begin != met.end();) {
      const auto end = std::upper_bound(begin, met.end(), *begin);
      const auto rank = static_cast<std::int32_t>(*begin & 0x7fffffff);
      const std::int64_t common = end - begin, mine = static_cast<std::int64_t>(targets.size()),
                         theirs = *begin >> 32;
      const std::int64_t my_rest = mine - contains(targets, rank),
                         their_rest = theirs - contains(m.senders, rank);
      const std::int64_t even = std::max({2 * (my_rest - common), 2 * (their_rest - common),
                                          my_rest + their_rest - common}) +
                                2;
      const std::int64_t saved = 2 * std::max(mine, theirs) - even;
      if (saved > 0 && static_cast<std::size_t>(common) >= price_.least_common())
        found.push_back({saved, rank ^ here(k), rank});
      begin = end;
    }
    std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
      return a.saved != b.saved ? a.saved > b.saved : a.distance < b.distance;
    });
    if (found.size() > most_candidates) found.resize(most_candidates);
    for (const Candidate& c : found) m.candidates.push_back(c.rank);
  }

  // Greedy matching by what is saved, without an order in time: each rank asks the best that it
  // believes free; two that ask each other are partners; who is taken or has given up says so when
  // asked (locally dominant edges, Manne and Bisseling 2007). There always is a pair that is the
  // best at both its ends; a few rounds find nearly all.
  void match() {
    for (int round = 0; round < most_matchings; ++round) {
      Word looking = 0;
      for (std::size_t k = 0; k < members_.size(); ++k)
        if (const Member& m = members_[k]; m.looking()) {
          looking = 1;
          bsp_.send(k, m.candidates[m.next], {});
        }
      if (bsp_.max(looking) == 0) return;
      bsp_.exchange();
      answer();
      bsp_.exchange();
      for (std::size_t k : bsp_.receivers())
        for (const BspMessage& message : bsp_.inbox(k)) {
          Member& m = members_[k];
          if (m.looking() && m.candidates[m.next] == message.from) ++m.next;
        }
    }
  }

  void answer() {
    for (std::size_t k : bsp_.receivers()) {
      Member& m = members_[k];
      for (const BspMessage& message : bsp_.inbox(k))
        if (m.looking() && message.from == m.candidates[m.next]) m.partner = message.from;
      for (const BspMessage& message : bsp_.inbox(k))
        if (!m.looking() && message.from != m.partner) bsp_.send(k, message.from, {});
    }
  }

  // Partners tell each other all that they have to send and come to the same conclusion. Whether
  // anybody shares. Collective.
  bool share_with_partners(std::int32_t stage) {
    std::vector<Word> words;
    for (std::size_t k = 0; k < members_.size(); ++k) {
      const Member& m = members_[k];
      if (m.partner < 0) continue;
      words.assign(1, static_cast<Word>(m.held.size()));
      words.insert(words.end(), m.held.begin(), m.held.end());
      for (const Item& item : m.items) words.insert(words.end(), {item.target, item.origin});
      bsp_.send(k, m.partner, words);
    }
    bsp_.exchange();
    Word shared = 0;
    for (std::size_t k : bsp_.receivers()) shared |= share_with(k, stage, bsp_.inbox(k).front());
    return bsp_.max(shared) != 0;
  }

  bool share_with(std::size_t k, std::int32_t stage, const BspMessage& message) {
    Member& m = members_[k];
    Partner self{here(k), m.items, m.held}, other{message.from, {}, {}};
    const auto rank = [&](std::size_t w) { return static_cast<std::int32_t>(message.words[w]); };
    const std::size_t items = 1 + static_cast<std::size_t>(message.words[0]);
    for (std::size_t w = 1; w < items; ++w) other.held.push_back(rank(w));
    for (std::size_t w = items; w < message.words.size(); w += 2)
      other.items.push_back({rank(w), rank(w + 1)});
    if (!(self.rank < other.rank ? share(self, other, price_) : share(other, self, price_)))
      return false;
    for (std::int32_t origin : other.given) m.relay.out.push_back({stage, other.rank, {origin, 0}});
    for (std::int32_t origin : self.given) m.relay.in.push_back({stage, other.rank, {origin, 0}});
    m.items = std::move(self.items);
    m.held.insert(m.held.end(), self.given.begin(), self.given.end());
    std::sort(m.held.begin(), m.held.end());
    return true;
  }

  // The hops so far and, last, everything to its target. Targets learn from whom their blocks come,
  // and refuse what a partner gave them on the way. Collective.
  std::vector<Relay> deliver(std::int32_t stage) {
    std::vector<Relay> relays;
    std::vector<Word> words;
    for (std::size_t k = 0; k < members_.size(); ++k) {
      const Items& items = members_[k].items;
      relays.push_back(members_[k].relay);
      for (auto item = items.begin(); item != items.end();) {
        const std::int32_t target = item->target;
        for (words.clear(); item != items.end() && item->target == target; ++item)
          words.push_back(item->origin);
        bsp_.send(k, target, words);
      }
    }
    bsp_.exchange();
    for (std::size_t k : bsp_.receivers())
      for (const BspMessage& message : bsp_.inbox(k)) {
        words.clear();
        for (Word word : message.words)
          if (const auto origin = static_cast<std::int32_t>(word);
              contains(members_[k].held, origin))
            words.push_back(origin);
          else
            relays[k].in.push_back({stage, message.from, {origin, 0}});
        if (!words.empty()) bsp_.send(k, message.from, words);
      }
    bsp_.exchange();
    for (std::size_t k = 0; k < members_.size(); ++k) add_last_hops(k, stage, relays[k]);
    return relays;
  }

  // In the staggered order.
  void add_last_hops(std::size_t k, std::int32_t stage, Relay& relay) {
    Items refused;
    for (const BspMessage& message : bsp_.inbox(k))
      for (Word origin : message.words)
        refused.push_back({message.from, static_cast<std::int32_t>(origin)});
    std::sort(refused.begin(), refused.end());
    Items items = members_[k].items;
    std::ranges::sort(items, {}, [&](const Item& item) {
      return std::pair(staggered(here(k), item.target), item.origin);
    });
    for (const Item& item : items)
      if (!std::binary_search(refused.begin(), refused.end(), item))
        relay.out.push_back({stage, item.target, {item.origin, 0}});
  }

  std::int32_t here(std::size_t k) const { return bsp_.here()[k]; }

  BspComm& bsp_;
  Price price_;
  std::vector<Member> members_;
};

std::string applicable(const GraphFacts&, const GraphTask& task) {
  if (task.collective != Collective::allgather)
    return "every block of an all-to-all is for one rank only";
  return "";
}

std::string pays(const GraphFacts& facts, const GraphTask& task) {
  const std::size_t least = Price(task).least_common();
  if (static_cast<std::size_t>(facts.most_out) < least)
    return "no rank has so many targets that sharing them could pay";
  if (facts.most_in < 2) return "no two ranks have a target in common";
  return "";
}

std::vector<GraphVariant> variants(BspComm& bsp, std::span<const Vertex> vertices,
                                   const GraphFacts& facts, const GraphTask& task) {
  std::vector<GraphVariant> all = Planner(bsp, vertices, facts, task).variants(vertices, task);
  if (!task.forced || all.front().variant() != nobody_shares) return all;
  return Planner(bsp, vertices, facts, counting_messages(task)).variants(vertices, task);
}

}  // namespace

const GraphPlanner graph_common_neighborhood{"common-neighborhood", applicable, variants, pays};

}  // namespace tonari
