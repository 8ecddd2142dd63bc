// SPDX-License-Identifier: BSD-3-Clause
// Here are the rounds in which ranks share what they have to send to common targets (Duymuş 2021,
// Algorithm 1). There are as many pairings at a time as there are busy ranks. Each busy rank asks
// the friend with which it shares the most. Every rank accepts the busiest that asks, and the two
// pair (send_set.hpp).
//
//   busy    A busy rank has work of at least three quarters of the most of all that still look for
//           help. So the busiest have help first, and a rank that is left tries again.
//   ends    A rank that was paired with all its friends, or several times in vain, looks no more.
//           In every round the busiest of those that look is paired with a rank with which it was
//           not yet. The number of rounds is limited besides.
#pragma once

#include "planners/graphs/friends.hpp"
#include "planners/graphs/send_set.hpp"

namespace tonari {

class Pairings {
 public:
  // targets: to whom each rank here has to send, ascending, without itself. fixed: its work
  // besides. Collective.
  Pairings(BspComm& bsp, Work work, const std::vector<Ranks>& targets, std::span<const Word> fixed);

  // Tells whether any rank shares. Collective.
  bool run();

  SendSet& sending(std::size_t k) { return partners_[k].sending; }  // of here()[k]

 private:
  static constexpr std::int32_t nobody = -1;
  struct Partner {
    SendSet sending;
    Ranks friends;                                   // with whom it was not paired yet, best first
    int failures = 0;                                // pairings in vain, one after the other
    std::int32_t asked = nobody, accepted = nobody;  // in this round
    bool looks() const;
    void forget(std::int32_t rank) { std::erase(friends, rank); }
    void turn_to_others();
  };

  void propose(Word least);
  void accept();
  bool agree();
  bool pair(std::size_t k, const BspMessage& message);
  void hear();

  BspComm& bsp_;
  Work work_;
  std::vector<Partner> partners_;
};

}  // namespace tonari
