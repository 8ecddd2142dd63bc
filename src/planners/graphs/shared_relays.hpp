// SPDX-License-Identifier: BSD-3-Clause
// Ranks share what they have to send, stage by stage. This class knows the blocks on their way, and
// the hops that come of it. What a rank has for one target at the beginning of a stage is one
// message, whichever rank's blocks it carries. So stages may follow each other.
//
//   senders share      a ══▶ b ──▶ t     Rank a has given t to b, which writes to t anyway. So a's
//                                        blocks for t go to b in this stage, and with b's in a
//                                        later one.
//   receivers share    s ══▶ h ──▶ t     This is the same with all arrows turned round. Rank t has
//                                        given s to h, to which s writes anyway; h passes on in the
//                                        next stage.
//   messages move      a ══▶ b ──▶ t     Rank a has handed t over to b, whatever b writes to. What
//                                        a has for t goes to b in this stage.
//
// A rank refuses a block that it has or had. An allgather's block may be such a block, because the
// rank is its target as well or passes it on to others. Any block on a way that comes back to the
// rank is one, too. The rank is the one to pass it on all the same.
#pragma once

#include <functional>

#include "planners/graphs/graph_planner.hpp"
#include "planners/graphs/pairings.hpp"

namespace tonari {

// Messages sent, messages received, and blocks passed on, in thousandths of a message's time: what
// a rank that helps may not have more of than the busiest.
Work all_work(const GraphTask& task);

class SharedRelays {
 public:
  SharedRelays(BspComm& bsp, std::span<const Vertex> vertices, const GraphFacts& facts,
               const GraphTask& task);

  // One stage; false, and no stage, if nobody shares. Collective.
  bool senders_share(Work work);
  bool receivers_share(Work work);
  bool messages_move(Work work, int steps = 1);  // steps: second_phase.hpp

  // With all that is left to its targets, in the last stage. Collective.
  std::vector<Relay> deliver() const;

 private:
  // An entry of a rank's send set: a block for a target.
  struct Item {
    std::int32_t target;
    BlockId block;
    friend auto operator<=>(const Item&, const Item&) = default;
  };
  struct Shipment {
    std::int32_t to;
    Item item;
    friend auto operator<=>(const Shipment&, const Shipment&) = default;
  };
  using Items = std::vector<Item>;  // ascending: a message is a run of equal targets
  using Shipments = std::vector<Shipment>;

  // The knowledge of one rank.
  struct Member {
    Items items;                  // still to be sent
    std::vector<BlockId> held;    // of others, which it has or had, ascending
    Relay relay;                  // the hops so far
    Word sent = 0, received = 0;  // ... and the messages that they are
  };

  std::vector<Ranks> all_targets() const;
  std::vector<Ranks> all_sources(const std::vector<Ranks>& targets);
  std::vector<Word> fixed_work(Work work, const std::vector<Ranks>& others) const;
  void give_away(const std::function<SendSet&(std::size_t)>& sending);
  static Shipments take_delegated(Member& m, SendSet& sending);
  static Shipments take_orders(Member& m, std::span<const BspMessage> orders, std::int32_t self);
  void ship(std::vector<Shipments> shipments);
  void receive(Member& m, std::size_t k, const BspMessage& message);
  void leave(Member& m, std::size_t k, const Shipments& shipments) const;
  std::int32_t here(std::size_t k) const { return bsp_->here()[k]; }

  BspComm* bsp_;
  std::vector<Member> members_;  // per rank here
  std::int32_t stage_ = 0;
};

}  // namespace tonari
