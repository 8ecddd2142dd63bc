// SPDX-License-Identifier: BSD-3-Clause
// This is Phase II of message sharing (Duymuş 2021, Algorithm 4), but no rank knows the whole
// pattern. Ranks with more work than the average hand whole messages over to ranks with less,
// whatever these send.
//
//   P_max ──▶ t       becomes      P_max ══▶ P_min ──▶ t
//
// P_max has one message less for each message handed over, and one more for the first of them.
// P_min has one message more if it does not write to t anyway.
//
// This differs from the central algorithm (patterns/second_phase.cpp) for these reasons:
//   At once     All of the busiest ranks are paired with the least busy ones at once, the k-th with
//               the k-th. There are as many pairs as one reduction finds (distributed_top_k.hpp).
//               Each busy rank has one helper at a time, and rounds are limited. So a hub of a
//               million targets stays above the root of them.
//   The taker   P_max names what it may hand over. P_min first takes what it writes to anyway, then
//               others, up to the average. So the taker counts, and several givers may come to it
//               in one round. Where the busiest rank has more than the square of the average, the
//               taker goes up to the root of what that rank has.
//   The end     Where a new helper would cost as much as it saves, ranks turn to their own targets,
//               which get a message anyway.
//   Steps       A rank with far more than the average would need as many helpers as it has messages
//               left. So there are two stages. In the first, helpers take more than the average: at
//               least the geometric mean of the average and the most. In the second, they hand on
//               what is too much.
//   Moved once  What was handed over stays where it is, so a stage is enough. Messages of earlier
//               stages do not move, including those that carry delegated blocks to helpers.
#pragma once

#include <functional>

#include "planners/graphs/distributed_top_k.hpp"
#include "planners/graphs/friends.hpp"
#include "planners/graphs/send_set.hpp"

namespace tonari {

class SecondPhase {
 public:
  // As for Pairings (pairings.hpp): targets: to whom each rank here has to send, ascending, without
  // itself. fixed: its work besides. Collective.
  SecondPhase(BspComm& bsp, Work work, const std::vector<Ranks>& targets,
              std::span<const Word> fixed);

  // Whether anybody hands anything over. steps: so many of these stages follow each other, this one
  // included. Collective.
  bool run(int steps);

  SendSet& sending(std::size_t k) { return members_[k].sending; }  // of here()[k]

 private:
  struct Member {
    SendSet sending;
    Ranks own_targets;
    int failures = 0;      // offers in vain, one after the other
    std::size_t next = 0;  // of its own targets, to be asked
    bool took = false;
  };
  struct Offer {
    std::size_t k;
    std::int32_t taker;
  };

  Word find_most();
  Word find_limit(Word most, int steps);
  bool rounds(const std::function<std::vector<Offer>()>& find_offers);
  std::vector<Offer> least_busy();
  std::vector<Offer> own_targets();
  bool make(const std::vector<Offer>& offers);
  std::vector<Word> take(Member& m, const BspMessage& offer);
  void note(std::size_t k);

  BspComm& bsp_;
  Work work_;
  std::vector<Member> members_;  // per rank here
  DistributedTopK busy_, idle_;  // who may hand over, by work; who may take, by less work
  Word limit_ = -1;              // of the work of those who take
};

}  // namespace tonari
