// SPDX-License-Identifier: BSD-3-Clause
#include "planners/offsets/emit.hpp"

#include <algorithm>
#include <numeric>

#include "plan/builder.hpp"

namespace tonari {
namespace {

// Hop m of block i, m from 0: taken in some step.
struct Hop {
  std::uint32_t block;
  std::uint32_t index;
};

// The hops of all blocks, grouped by step, blocks ascending: the order of the blocks inside a
// message, on both sides.
struct HopsByStep {
  std::vector<std::uint32_t> begin;
  std::vector<Hop> hops;
  std::span<const Hop> of(std::size_t step) const {
    return std::span(hops).subspan(begin[step], begin[step + 1] - begin[step]);
  }
};

HopsByStep hops_by_step(const Routing& routing) {
  HopsByStep by;
  by.begin.assign(routing.steps().size() + 1, 0);
  for (std::size_t i = 0; i < routing.blocks(); ++i)
    for (std::int32_t step : routing.path(i)) ++by.begin[step + 1];
  std::partial_sum(by.begin.begin(), by.begin.end(), by.begin.begin());
  by.hops.resize(routing.hops());
  std::vector<std::uint32_t> next(by.begin.begin(), by.begin.end() - 1);
  for (std::uint32_t i = 0; i < routing.blocks(); ++i) {
    std::uint32_t m = 0;
    for (std::int32_t step : routing.path(i)) by.hops[next[step]++] = {i, m++};
  }
  return by;
}

// Answers for one rank: does the block that would be here after some hops exist? Both its origin
// and its target must be in the grid.
class Presence {
 public:
  Presence(const Routing& routing, int rank)
      : routing_(routing), here_(routing.near().grid.coordinates(rank)) {
    all_ = routing.near().grid.fully_periodic();
  }
  bool exists(std::uint32_t i, std::uint32_t hops_done) const {
    if (all_) return true;
    const Grid& grid = routing_.near().grid;
    Vec origin = here_;
    for (std::int32_t step : routing_.path(i).first(hops_done))
      origin = origin - routing_.steps()[step];
    return grid.contains(origin) && grid.contains(origin + routing_.near().offsets[i]);
  }
  bool receives(std::uint32_t i) const {
    return all_ || routing_.near().grid.contains(here_ - routing_.near().offsets[i]);
  }
  bool contains(const Vec& offset_from_here) const {
    return routing_.near().grid.contains(here_ + offset_from_here);
  }
  const Vec& here() const { return here_; }

 private:
  const Routing& routing_;
  Vec here_;
  bool all_;
};

class AlltoallSlots {
 public:
  AlltoallSlots(const Routing& routing, const Presence& presence, Storage storage, Builder& builder)
      : routing_(routing),
        presence_(presence),
        storage_(storage),
        builder_(builder),
        slots_(storage == Storage::alternate ? 2 * routing.blocks() : routing.blocks(), unused) {}

  // Where block i lies on this rank after `done` hops. The versions of one block pass in order,
  // each written once.
  Slice read(std::uint32_t i, std::uint32_t done) {
    if (done == 0) return {Buffer::send, i};
    return storage_ == Storage::alternate ? alternate(i, done) : Slice{Buffer::scratch, slots_[i]};
  }
  Slice write(std::uint32_t i, std::uint32_t done) {
    const std::size_t left = routing_.path(i).size() - done;
    if (storage_ == Storage::alternate) return alternate(i, done);
    if (left == 0) return {Buffer::recv, i};
    const Slice fresh = builder_.scratch(i);
    slots_[i] = fresh.block;
    return fresh;
  }

 private:
  static constexpr std::uint32_t unused = ~0u;

  // Algorithm 1: with an even number of hops left the block is in the receive buffer, else in
  // scratch. A rank at the border of a mesh that passes block i on without receiving one itself
  // must leave its receive block alone and uses a second scratch block.
  Slice alternate(std::uint32_t i, std::uint32_t done) {
    const std::size_t left = routing_.path(i).size() - done;
    const bool even = left % 2 == 0;
    if (even && presence_.receives(i)) return {Buffer::recv, i};
    std::uint32_t& slot = slots_[2 * i + (even ? 1 : 0)];
    if (slot == unused) slot = builder_.scratch(i).block;
    return {Buffer::scratch, slot};
  }

  const Routing& routing_;
  const Presence& presence_;
  Storage storage_;
  Builder& builder_;
  std::vector<std::uint32_t> slots_;
};

// Self blocks move from the send to the receive buffer in one copy.
void copy_own_blocks(Builder& builder, const Routing& routing, Collective collective) {
  std::vector<Slice> from, to;
  for (std::uint32_t i = 0; i < routing.blocks(); ++i) {
    const Vec& offset = routing.near().offsets[i];
    if (!routing.path(i).empty() || !routing.near().grid.reachable(offset)) continue;
    from.push_back({Buffer::send, collective == Collective::alltoall ? i : 0});
    to.push_back({Buffer::recv, i});
  }
  if (!from.empty()) builder.copy(from, to);
}

int peer(const Routing& routing, const Vec& position) {
  return routing.near().grid.rank_at(position);
}

}  // namespace

// This is Algorithm 1 of Träff 2016, §3.3, for any steps. In every step all blocks that take it
// leave in one message, and as many arrive.
Plan emit_alltoall(const Routing& routing, int rank, EmitOptions options) {
  Builder builder(rank, routing.blocks());
  builder.reserve(2 * routing.steps().size() + 1, 2 * routing.hops() + routing.blocks());
  const HopsByStep by = hops_by_step(routing);
  const Presence presence(routing, rank);
  AlltoallSlots slots(routing, presence, options.storage, builder);
  copy_own_blocks(builder, routing, Collective::alltoall);
  for (std::size_t step = 0; step < routing.steps().size(); ++step) {
    const Vec& b = routing.steps()[step];
    for (const Hop& hop : by.of(step))
      if (presence.exists(hop.block, hop.index)) builder.slice(slots.read(hop.block, hop.index));
    if (builder.pending() > 0)
      builder.send(peer(routing, presence.here() + b), static_cast<int>(step));
    for (const Hop& hop : by.of(step))
      if (presence.exists(hop.block, hop.index + 1))
        builder.slice(slots.write(hop.block, hop.index + 1));
    if (builder.pending() > 0)
      builder.recv(peer(routing, presence.here() - b), static_cast<int>(step));
  }
  builder.limit_ports(options.ports);
  return builder.build();
}

namespace {

class AllgatherSlots {
 public:
  AllgatherSlots(const AllgatherTree& tree, Builder& builder)
      : tree_(tree), builder_(builder), scratch_(tree.nodes.size(), AllgatherTree::none) {}
  Slice at(std::uint32_t node) {
    if (node == 0) return {Buffer::send, 0};
    if (tree_.nodes[node].block != AllgatherTree::none)
      return {Buffer::recv, tree_.nodes[node].block};
    if (scratch_[node] == AllgatherTree::none) scratch_[node] = builder_.scratch(0).block;
    return {Buffer::scratch, scratch_[node]};
  }

 private:
  const AllgatherTree& tree_;
  Builder& builder_;
  std::vector<std::uint32_t> scratch_;
};

// The block that is on its way to `node` exists if its origin is in the grid and some rank below
// the node wants it.
bool wanted(const Routing& routing, const AllgatherTree& tree, const Vec& origin,
            std::uint32_t node) {
  const Grid& grid = routing.near().grid;
  if (grid.fully_periodic()) return true;
  if (!grid.contains(origin)) return false;
  return std::any_of(tree.leaves[node].begin(), tree.leaves[node].end(), [&](std::uint32_t i) {
    return grid.contains(origin + routing.near().offsets[i]);
  });
}

// Offsets that mean the same place: the block arrived once and is copied to the other receive
// blocks.
void copy_duplicates(Builder& builder, const Routing& routing, const AllgatherTree& tree,
                     const Presence& presence) {
  std::vector<Slice> from, to;
  for (std::uint32_t i = 0; i < routing.blocks(); ++i) {
    const std::uint32_t node = tree.node_of[i];
    if (node == AllgatherTree::none || node == 0 || tree.nodes[node].block == i ||
        !presence.receives(i))
      continue;
    from.push_back({Buffer::recv, tree.nodes[node].block});
    to.push_back({Buffer::recv, i});
  }
  if (!from.empty()) builder.copy(from, to);
}

std::vector<std::vector<std::uint32_t>> nodes_by_step(const Routing& routing,
                                                      const AllgatherTree& tree) {
  std::vector<std::vector<std::uint32_t>> by(routing.steps().size());
  for (std::uint32_t node = 1; node < tree.nodes.size(); ++node)
    by[tree.nodes[node].step].push_back(node);
  return by;
}

}  // namespace

Plan emit_allgather(const Routing& routing, const AllgatherTree& tree, int rank,
                    EmitOptions options) {
  Builder builder(rank, routing.blocks());
  builder.reserve(2 * routing.steps().size() + 2, 2 * tree.nodes.size());
  const Presence presence(routing, rank);
  const Vec& here = presence.here();
  AllgatherSlots slots(tree, builder);
  copy_own_blocks(builder, routing, Collective::allgather);
  const auto by = nodes_by_step(routing, tree);
  for (std::size_t step = 0; step < routing.steps().size(); ++step) {
    const Vec& b = routing.steps()[step];
    for (std::uint32_t node : by[step]) {
      const std::uint32_t parent = tree.nodes[node].parent;
      if (wanted(routing, tree, here - tree.nodes[parent].place, node))
        builder.slice(slots.at(parent));
    }
    if (builder.pending() > 0) builder.send(peer(routing, here + b), static_cast<int>(step));
    for (std::uint32_t node : by[step])
      if (wanted(routing, tree, here - tree.nodes[node].place, node)) builder.slice(slots.at(node));
    if (builder.pending() > 0) builder.recv(peer(routing, here - b), static_cast<int>(step));
  }
  copy_duplicates(builder, routing, tree, presence);
  builder.limit_ports(options.ports);
  return builder.build();
}

}  // namespace tonari
