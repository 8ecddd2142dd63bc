// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/relay.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/error.hpp"
#include "plan/builder.hpp"
#include "topology/staggered.hpp"

namespace tonari {
namespace {

// One message: the blocks that leave for (arrive from) one peer in one stage, in the order that
// both ends know.
struct Message {
  std::int32_t stage, peer;
  std::vector<BlockId> blocks;
};

// Stages ascending; in one stage in the order in which the hops first name the peers.
std::vector<Message> messages(const std::vector<Hop>& hops) {
  std::vector<Message> all;
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> place;
  for (const Hop& hop : hops) {
    const auto [entry, fresh] = place.try_emplace({hop.stage, hop.peer}, all.size());
    if (fresh) all.push_back({hop.stage, hop.peer, {}});
    all[entry->second].blocks.push_back(hop.block);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Message& a, const Message& b) { return a.stage < b.stage; });
  for (Message& m : all) std::sort(m.blocks.begin(), m.blocks.end());
  return all;
}

class Emitter {
 public:
  Emitter(const Vertex& vertex, Collective collective, const Relay& relay)
      : vertex_(vertex),
        alltoall_(collective == Collective::alltoall),
        out_(messages(relay.out)),
        in_(messages(relay.in)),
        builder_(vertex.rank, vertex.sources.size()) {
    builder_.reserve(out_.size() + in_.size() + 2, 2 * (relay.out.size() + relay.in.size()));
    for (std::uint32_t j = 0; j < vertex.sources.size(); ++j)
      if (vertex.sources[j] >= 0) targets_[key(wanted(j))].push_back(j);
  }

  Plan plan(int ports) {
    copy_own_blocks();
    auto send = out_.begin();
    auto recv = in_.begin();
    while (send != out_.end() || recv != in_.end()) {
      const std::int32_t stage = std::min(send == out_.end() ? recv->stage : send->stage,
                                          recv == in_.end() ? send->stage : recv->stage);
      for (; send != out_.end() && send->stage == stage; ++send) add_send(*send);
      for (; recv != in_.end() && recv->stage == stage; ++recv) add_recv(*recv);
    }
    copy_repeats();
    builder_.limit_ports(ports);
    return builder_.build();
  }

 private:
  BlockId wanted(std::uint32_t j) const {
    return {vertex_.sources[j], alltoall_ ? vertex_.origins[j] : 0};
  }
  static std::uint64_t key(BlockId b) {
    return static_cast<std::uint64_t>(b.origin) << 32 | b.block;
  }

  void copy_own_blocks() {
    std::vector<Slice> from, to;
    for (std::uint32_t j = 0; j < vertex_.sources.size(); ++j)
      if (vertex_.sources[j] == vertex_.rank) {
        from.push_back({Buffer::send, wanted(j).block});
        to.push_back({Buffer::recv, j});
      }
    if (!from.empty()) builder_.copy(from, to);
  }

  void add_send(const Message& message) {
    for (BlockId b : message.blocks) {
      if (b.origin == vertex_.rank) {
        builder_.slice({Buffer::send, b.block});
        continue;
      }
      const auto here = here_.find(key(b));
      if (here == here_.end())
        fail(Errc::internal, "rank ", vertex_.rank, " passes on block ", b.block, " of rank ",
             b.origin, " in stage ", message.stage, " but does not have it");
      builder_.slice(here->second);
    }
    builder_.send(message.peer, message.stage);
  }

  void add_recv(const Message& message) {
    for (BlockId b : message.blocks) {
      const auto target = targets_.find(key(b));
      const Slice slice = target == targets_.end() ? builder_.scratch(foreign)
                                                   : Slice{Buffer::recv, target->second.front()};
      if (!here_.emplace(key(b), slice).second)
        fail(Errc::internal, "rank ", vertex_.rank, " receives block ", b.block, " of rank ",
             b.origin, " twice");
      builder_.slice(slice);
    }
    builder_.recv(message.peer, message.stage);
  }

  // An allgather's block that several edges ask for came once.
  void copy_repeats() {
    std::vector<Slice> from, to;
    for (std::uint32_t j = 0; j < vertex_.sources.size(); ++j) {
      if (vertex_.sources[j] < 0 || vertex_.sources[j] == vertex_.rank) continue;
      const std::uint64_t block = key(wanted(j));
      if (!here_.contains(block))
        fail(Errc::internal, "block ", wanted(j).block, " of rank ", vertex_.sources[j],
             " does not reach rank ", vertex_.rank);
      if (targets_[block].front() == j) continue;
      from.push_back({Buffer::recv, targets_[block].front()});
      to.push_back({Buffer::recv, j});
    }
    if (!from.empty()) builder_.copy(from, to);
  }

  const Vertex& vertex_;
  bool alltoall_;
  std::vector<Message> out_, in_;
  Builder builder_;
  // the receive blocks that want a block
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> targets_;
  // where a block that arrived lies
  std::unordered_map<std::uint64_t, Slice> here_;
};

}  // namespace

void stagger(std::int32_t rank, std::vector<Hop>& hops) {
  const auto place = [rank](const Hop& hop) {
    return std::tuple(hop.stage, staggered(rank, hop.peer), hop.block);
  };
  std::sort(hops.begin(), hops.end(),
            [&](const Hop& a, const Hop& b) { return place(a) < place(b); });
}

void remove_repeats(std::vector<Hop>& hops) {
  std::set<Hop> seen;
  std::erase_if(hops, [&](const Hop& hop) { return !seen.insert(hop).second; });
}

Plan emit(const Vertex& vertex, Collective collective, const Relay& relay, int ports) {
  return Emitter(vertex, collective, relay).plan(ports);
}

}  // namespace tonari
