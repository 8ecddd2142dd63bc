// SPDX-License-Identifier: BSD-3-Clause
// store-and-forward: all ranks are the points of a virtual mesh, and blocks go along one dimension
// after the other, those for one neighbor together (Selvitopi and Aykanat, "Regularizing
// irregularly sparse point-to-point communications", SC 2019): however irregular the pattern, a
// rank has at most the sum of (size - 1) messages to send, and as many to receive. How the mesh is
// made where the number of ranks does not factor: topology/virtual_topology.hpp.
//
// In an allgather a block travels once per hop for all targets behind it; a rank's block meets
// nobody twice, as its routes are a tree.
//
// Ways: 2 and 3 dimensions and the most there are. From P messages, 2 and 3 dimensions lead to 2
// P^(1/2) and 3 P^(1/3), nearly all there is to save, and every further dimension is a hop more for
// every byte; where blocks are so small that bytes cost nothing, log2 P dimensions have the fewest
// messages. What lies between would take as long to plan and to measure each, and seldom wins by
// much.
#include <algorithm>
#include <tuple>

#include "planners/graphs/irregular.hpp"
#include "topology/staggered.hpp"
#include "topology/virtual_topology.hpp"

namespace tonari {
namespace {

// A block on its way to one of its targets.
struct Parcel {
  std::int32_t target;
  BlockId block;
  friend auto operator<=>(const Parcel&, const Parcel&) = default;
};

std::vector<Parcel> own_parcels(const Vertex& v, Collective collective) {
  std::vector<Parcel> parcels;
  const bool alltoall = collective == Collective::alltoall;
  for (std::uint32_t i = 0; i < v.targets.size(); ++i)
    if (v.targets[i] >= 0 && v.targets[i] != v.rank)
      parcels.push_back({v.targets[i], {v.rank, alltoall ? i : 0}});
  std::sort(parcels.begin(), parcels.end());
  // edges of an allgather that repeat
  parcels.erase(std::unique(parcels.begin(), parcels.end()), parcels.end());
  return parcels;
}

// Whoever asks for the algorithm by name gets any number.
std::vector<int> offered_dimensions(int ranks, bool forced) {
  const int most = most_dimensions(ranks);
  std::vector<int> offered;
  for (int n = 2; forced && n <= most; ++n) offered.push_back(n);
  if (forced) return offered;
  for (int n : {2, 3, most})
    if (n <= most && n >= 2 && (offered.empty() || n > offered.back())) offered.push_back(n);
  return offered;
}

class Forwarding {
 public:
  Forwarding(BspComm& bsp, std::span<const Vertex> vertices, Collective collective, int n)
      : bsp_(bsp),
        topology_(bsp.ranks(), virtual_topology(bsp.ranks(), n)),
        relays_(vertices.size()) {
    for (const Vertex& v : vertices) held_.push_back(own_parcels(v, collective));
  }

  std::vector<Relay> run() {
    for (std::size_t d = 0; d < topology_.dimensions(); ++d) {
      for (std::size_t k = 0; k < held_.size(); ++k) send(k, d);
      bsp_.exchange();
      for (std::size_t k : bsp_.receivers())
        for (const BspMessage& message : bsp_.inbox(k))
          receive(k, static_cast<std::int32_t>(d), message);
    }
    return std::move(relays_);
  }

 private:
  // Blocks with a hop in this dimension leave, in the staggered order.
  void send(std::size_t k, std::size_t d) {
    const std::int32_t rank = bsp_.here()[k];
    std::vector<std::pair<std::int32_t, Parcel>> leaving;  // to whom
    std::erase_if(held_[k], [&](const Parcel& parcel) {
      const std::int32_t next = topology_.next(rank, parcel.target, d);
      if (next != rank) leaving.emplace_back(next, parcel);
      return next != rank;
    });
    std::ranges::sort(leaving, {}, [&](const auto& entry) {
      return std::tuple(staggered(rank, entry.first), entry.second.block, entry.second.target);
    });
    std::vector<Word> words;
    for (auto first = leaving.begin(); first != leaving.end();) {
      const std::int32_t peer = first->first;
      const auto last = std::find_if(
          first, leaving.end(), [&](const auto& entry) { return entry.first != first->first; });
      words.clear();
      for (; first != last; ++first) {
        const Parcel& parcel = first->second;
        words.insert(words.end(), {parcel.block.origin, parcel.block.block, parcel.target});
        add(relays_[k].out, {static_cast<std::int32_t>(d), peer, parcel.block});
      }
      bsp_.send(k, peer, words);
    }
  }

  void receive(std::size_t k, std::int32_t stage, const BspMessage& message) {
    for (std::size_t w = 0; w < message.words.size(); w += 3) {
      const BlockId block{static_cast<std::int32_t>(message.words[w]),
                          static_cast<std::uint32_t>(message.words[w + 1])};
      const auto target = static_cast<std::int32_t>(message.words[w + 2]);
      add(relays_[k].in, {stage, message.from, block});
      if (target != bsp_.here()[k]) held_[k].push_back({target, block});
    }
  }

  // A block for several targets is named for each of them, one after the other.
  static void add(std::vector<Hop>& hops, Hop hop) {
    if (hops.empty() || hops.back() != hop) hops.push_back(hop);
  }

  BspComm& bsp_;
  VirtualTopology topology_;
  std::vector<std::vector<Parcel>> held_;  // per rank here
  std::vector<Relay> relays_;
};

// The most that n dimensions can cost the busiest rank, against what it does now: at most all its
// possible neighbors in the mesh, a latency per dimension, and, of an all-to-all's blocks, as many
// passed on as the average rank has to send.
bool may_pay(const GraphFacts& facts, const GraphTask& task, int n) {
  double messages = 0;
  for (int size : virtual_topology(facts.ranks, n)) messages += size - 1;
  const double blocks = static_cast<double>(facts.pairs) / facts.ranks;
  const double passing =
      task.collective == Collective::alltoall ? blocks * task.forwarding() : task.forwarding();
  return messages * message_time(task) + (n - 1) * (task.machine.L + passing) <
         static_cast<double>(facts.degree()) * message_time(task);
}

std::string applicable(const GraphFacts& facts, const GraphTask&) {
  return facts.ranks < 4 ? "fewer than 4 ranks are no mesh of 2 dimensions" : "";
}

std::string pays(const GraphFacts& facts, const GraphTask& task) {
  if (const std::string reason = too_regular(facts, task); !reason.empty()) return reason;
  for (int n : offered_dimensions(facts.ranks, false))
    if (may_pay(facts, task, n)) return "";
  return "the busiest rank has too few messages: on a mesh it might have as many, and each takes "
         "more hops";
}

std::vector<GraphVariant> variants(BspComm& bsp, std::span<const Vertex> vertices,
                                   const GraphFacts& facts, const GraphTask& task) {
  std::vector<GraphVariant> all;
  for (int n : offered_dimensions(facts.ranks, task.forced))
    all.emplace_back(graph_store_and_forward, std::to_string(n), vertices, task,
                     Forwarding(bsp, vertices, task.collective, n).run());
  return all;
}

}  // namespace

const GraphPlanner graph_store_and_forward{"store-and-forward", applicable, variants, pays};

}  // namespace tonari
