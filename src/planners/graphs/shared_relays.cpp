// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/shared_relays.hpp"

#include <algorithm>
#include <utility>

#include "planners/graphs/distributed_second_phase.hpp"
#include "planners/graphs/irregular.hpp"

namespace tonari {
namespace {

template <class Items>
Ranks targets_of(const Items& items) {
  Ranks targets;
  for (const auto& item : items)
    if (targets.empty() || targets.back() != item.target) targets.push_back(item.target);
  return targets;
}

}  // namespace

Work all_work(const GraphTask& task) {
  // An allgather's block comes to a helper once, for all targets.
  const double passed = task.collective == Collective::alltoall ? task.forwarding()
                                                                : task.block_bytes * task.machine.G;
  return {1000, 1000, static_cast<Word>(1000 * std::min(passed / message_time(task), 1000.0))};
}

SharedRelays::SharedRelays(BspComm& bsp, std::span<const Vertex> vertices, const GraphFacts& facts,
                           const GraphTask& task)
    : bsp_(&bsp) {
  const std::vector<GraphVariant> direct = graph_linear.variants(bsp, vertices, facts, task);
  for (const Relay& relay : direct.front().relays()) {
    Member& m = members_.emplace_back();
    for (const Hop& hop : relay.out) m.items.push_back({hop.peer, hop.block});
    std::sort(m.items.begin(), m.items.end());
  }
}

bool SharedRelays::senders_share(Work work) {
  const std::vector<Ranks> targets = all_targets(), sources = all_sources(targets);
  Pairings sharing(*bsp_, work, targets, fixed_work(work, sources));
  if (!sharing.run()) return false;
  give_away([&](std::size_t k) -> SendSet& { return sharing.sending(k); });
  return true;
}

bool SharedRelays::messages_move(Work work, int steps) {
  const std::vector<Ranks> targets = all_targets(), sources = all_sources(targets);
  SecondPhase moving(*bsp_, work, targets, fixed_work(work, sources));
  if (!moving.run(steps)) return false;
  give_away([&](std::size_t k) -> SendSet& { return moving.sending(k); });
  return true;
}

void SharedRelays::give_away(const std::function<SendSet&(std::size_t)>& sending) {
  std::vector<Shipments> shipments(members_.size());
  for (std::size_t k = 0; k < members_.size(); ++k)
    shipments[k] = take_delegated(members_[k], sending(k));
  ship(std::move(shipments));
  ++stage_;
}

// The same seen from the other end: receivers share what comes from common sources. Who gives a
// source to a helper gets its blocks from the helper, last.
bool SharedRelays::receivers_share(Work work) {
  const std::vector<Ranks> targets = all_targets(), sources = all_sources(targets);
  Pairings sharing(*bsp_, work, sources, fixed_work(work, targets));
  if (!sharing.run()) return false;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    SendSet& receiving = sharing.sending(k);
    for (const SendSet::DelegatedBlocks& delegation : receiving.delegated_blocks())
      bsp_->send(k, delegation.target, {delegation.to});
    for (std::int32_t helper : receiving.helpers()) bsp_->send(k, helper, {helper});
  }
  bsp_->exchange();
  std::vector<Shipments> shipments(members_.size());
  for (std::size_t k = 0; k < members_.size(); ++k)
    shipments[k] = take_orders(members_[k], bsp_->inbox(k), here(k));
  ship(std::move(shipments));
  ++stage_;
  return true;
}

std::vector<Relay> SharedRelays::deliver() const {
  SharedRelays last = *this;
  std::vector<Shipments> shipments(members_.size());
  for (std::size_t k = 0; k < members_.size(); ++k)
    for (const Item& item : std::exchange(last.members_[k].items, {}))
      shipments[k].push_back({item.target, item});
  last.ship(std::move(shipments));
  std::vector<Relay> relays;
  for (Member& m : last.members_) relays.push_back(std::move(m.relay));
  return relays;
}

std::vector<Ranks> SharedRelays::all_targets() const {
  std::vector<Ranks> targets;
  for (const Member& m : members_) targets.push_back(targets_of(m.items));
  return targets;
}

std::vector<Ranks> SharedRelays::all_sources(const std::vector<Ranks>& targets) {
  for (std::size_t k = 0; k < targets.size(); ++k)
    for (std::int32_t target : targets[k]) bsp_->send(k, target, {});
  bsp_->exchange();
  std::vector<Ranks> sources(targets.size());
  for (std::size_t k : bsp_->receivers())
    for (const BspMessage& message : bsp_->inbox(k)) sources[k].push_back(message.from);
  return sources;
}

// Messages of earlier stages, and those at the other end in this one.
std::vector<Word> SharedRelays::fixed_work(Work work, const std::vector<Ranks>& others) const {
  std::vector<Word> fixed;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const Member& m = members_[k];
    fixed.push_back(m.sent * work.message +
                    (m.received + static_cast<Word>(others[k].size())) * work.helped);
  }
  return fixed;
}

// The blocks that go to helpers now: those that they are given, and those that are for them.
SharedRelays::Shipments SharedRelays::take_delegated(Member& m, SendSet& sending) {
  Shipments shipments;
  Items kept;
  const std::vector<SendSet::DelegatedBlocks> delegations = sending.delegated_blocks();
  std::vector<std::pair<std::int32_t, std::int32_t>> to;  // by target
  for (const SendSet::DelegatedBlocks& delegation : delegations)
    to.emplace_back(delegation.target, delegation.to);
  std::sort(to.begin(), to.end());
  for (const Item& item : m.items) {
    const auto given =
        std::lower_bound(to.begin(), to.end(), std::pair(item.target, std::int32_t{0}));
    if (given != to.end() && given->first == item.target)
      shipments.push_back({given->second, item});
    else if (sending.helps(item.target))
      shipments.push_back({item.target, item});
    else
      kept.push_back(item);
  }
  m.items = std::move(kept);
  return shipments;
}

// The blocks that do not leave last: all but those that this rank, as a helper, has for others.
// Targets say by way of whom they want it.
SharedRelays::Shipments SharedRelays::take_orders(Member& m, std::span<const BspMessage> orders,
                                                  std::int32_t self) {
  Shipments shipments;
  Items kept;
  for (const Item& item : m.items) {
    const auto order =
        std::lower_bound(orders.begin(), orders.end(), item.target,
                         [](const BspMessage& l, std::int32_t target) { return l.from < target; });
    const std::int32_t to = order != orders.end() && order->from == item.target
                                ? static_cast<std::int32_t>(order->words[0])
                                : item.target;
    if (to == self)
      kept.push_back(item);
    else
      shipments.push_back({to, item});
  }
  m.items = std::move(kept);
  return shipments;
}

// All shipments leave in this stage. Their receivers learn what comes, for whom, and refuse a block
// that they have: it need not travel.
void SharedRelays::ship(std::vector<Shipments> shipments) {
  std::vector<Word> words;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    std::sort(shipments[k].begin(), shipments[k].end());
    for (auto first = shipments[k].begin(); first != shipments[k].end();) {
      const std::int32_t to = first->to;
      for (words.clear(); first != shipments[k].end() && first->to == to; ++first)
        words.insert(words.end(),
                     {first->item.target, first->item.block.origin, Word{first->item.block.block}});
      bsp_->send(k, to, words);
    }
  }
  bsp_->exchange();
  for (std::size_t k : bsp_->receivers()) {
    for (const BspMessage& message : bsp_->inbox(k)) receive(members_[k], k, message);
    std::sort(members_[k].items.begin(), members_[k].items.end());
  }
  bsp_->exchange();
  for (std::size_t k = 0; k < members_.size(); ++k) leave(members_[k], k, shipments[k]);
}

void SharedRelays::receive(Member& m, std::size_t k, const BspMessage& message) {
  std::vector<BlockId> blocks;
  for (std::size_t w = 0; w < message.words.size(); w += 3) {
    const Item item{static_cast<std::int32_t>(message.words[w]),
                    {static_cast<std::int32_t>(message.words[w + 1]),
                     static_cast<std::uint32_t>(message.words[w + 2])}};
    blocks.push_back(item.block);
    if (item.target != here(k)) m.items.push_back(item);
  }
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  const std::size_t before = m.held.size();
  std::vector<Word> refused;
  for (BlockId block : blocks)
    if (block.origin == here(k) ||
        std::binary_search(m.held.begin(), m.held.begin() + static_cast<std::ptrdiff_t>(before),
                           block)) {
      refused.insert(refused.end(), {block.origin, Word{block.block}});
    } else {
      m.held.push_back(block);
      m.relay.in.push_back({stage_, message.from, block});
    }
  m.received += m.held.size() > before;
  std::inplace_merge(m.held.begin(), m.held.begin() + static_cast<std::ptrdiff_t>(before),
                     m.held.end());
  if (!refused.empty()) bsp_->send(k, message.from, refused);
}

void SharedRelays::leave(Member& m, std::size_t k, const Shipments& shipments) const {
  std::vector<std::pair<std::int32_t, BlockId>> refused;
  for (const BspMessage& message : bsp_->inbox(k))
    for (std::size_t w = 0; w < message.words.size(); w += 2)
      refused.push_back({message.from,
                         {static_cast<std::int32_t>(message.words[w]),
                          static_cast<std::uint32_t>(message.words[w + 1])}});
  std::sort(refused.begin(), refused.end());
  std::vector<Hop> hops;
  for (const Shipment& s : shipments)
    if (!std::binary_search(refused.begin(), refused.end(), std::pair(s.to, s.item.block)))
      hops.push_back({stage_, s.to, s.item.block});
  stagger(here(k), hops);
  hops.erase(std::unique(hops.begin(), hops.end()), hops.end());
  for (std::size_t h = 0; h < hops.size(); ++h)
    m.sent += h == 0 || hops[h].peer != hops[h - 1].peer;
  m.relay.out.insert(m.relay.out.end(), hops.begin(), hops.end());
}

}  // namespace tonari
