// SPDX-License-Identifier: BSD-3-Clause
// Message sharing as the thesis has it (Duymuş 2021, Algorithms 1 to 4), to compare with.
// message_sharing.hpp is what tonari makes of it. One example for both, Fig. 2.3:
//
//   P_1 ──▶ P_2, P_3, P_4     becomes     P_1 ──▶ P_2    P_1 ══▶ P_3 ══▶ P_4
//   P_3 ──▶ P_4, P_5                      P_3 ──▶ P_5
//
// P_1 is the bottleneck, and P_3 its friend: one target in common is enough. m(1,4) goes to P_3
// with m(1,3), and on with m(3,4).
//
// Pseudocode comes before text, and text before what would give fewer messages. Choices where both
// are open, or cannot be followed:
//   Bottleneck  Of equal ranks the lowest is P_max or P_min, as the loops of Algorithms 1 and 4
//               find them. `max` and `min` are reset in every iteration: otherwise the first P_max
//               would stay it, against §4.2.
//   Friend      Most targets in common by the initial send sets (§4.3); of equal ranks the lowest.
//               So the same friend comes again, and only what both delegated since is new.
//   Stop        An iteration in which P_max keeps its count is the last (Algorithm 1, line 3).
//               "Chosen again with the same |SS|" (§4.3) is the same: counts never grow.
//   Counting    Each block that a rank gives away is one message less (Algorithm 2, lines 10 and
//               13). Messages between the pair, and those that a rank keeps for others, are not
//               counted (§4.1). `counted` has these numbers. What a rank really sends is known from
//               the schedule, and is what tables show.
//   Groups      Cases 2 to 4 are one: P_max gives blocks to ranks that P_friend sends through, then
//               P_friend to those of P_max, then both share. A group is whom a rank sends through,
//               as Algorithm 3 tests it, not whom it was paired with. The rank in between may have
//               given away its own message there; it sends there anyway.
//   Passing on  A block that was given away does not move again. §4.3 lets it go to the new partner
//               instead, which saves no message: the old one still sends its own there.
//   |C|         At last only targets count to which both still send their own blocks (Case 4).
//   alpha       Halves are rounded down. After Cases 2 to 4, (4.1) can be below 0; then it is as 0.
//   Skipped     A message to a rank in its sender's group stays, and does not count as shared
//               (Algorithm 3; it goes on at line 16 of Algorithm 2).
//   Phase II    Moves the messages of §5's matrix, first hops included: what P_max sent to t goes
//               over P_min. A message to P_min itself stays, which Algorithm 4 forgets. Nor does a
//               rank pass on a message to a target that was given to it in this phase.
//   Paths       One `sender` array cannot say them: a block makes up to 4 hops. Where it would pass
//               a rank twice, the loop is cut out.
//   Messages    All that one rank has for another is one message, which may wait in a circle:
//               combine() splits it (routes.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "planners/patterns/message_sharing.hpp"

namespace tonari {

// One iteration of Algorithm 1 or 4: P_max, its pair, and the counted messages of P_max.
struct ThesisPairing {
  std::int32_t most, other;
  int before, after;
};

struct ThesisPhase {
  std::vector<std::int32_t> counted;    // outgoingSize, by rank
  std::vector<ThesisPairing> pairings;  // the last one leaves P_max as it was
};

// Phase I.
struct ThesisSenders : ThesisPhase {
  std::vector<std::int32_t> sender;  // by block; its origin, if it goes directly
};
ThesisSenders thesis_senders(const CommunicationMatrix& matrix);

// Both start from one state: all blocks go directly, and ranks count |SendSet|.
ThesisSenders thesis_start(const CommunicationMatrix& matrix);
// One pairing of P_max = most with P_friend = other: Algorithm 2, and Cases 1 to 4.
void thesis_pair(const CommunicationMatrix& matrix, int most, int other, ThesisSenders& state);

// Phase II, on the matrix that second_hop_matrix makes of Phase I.
struct ThesisHelpers : ThesisPhase {
  static constexpr std::int32_t nobody = no_helper;
  std::vector<std::int32_t> helper;  // by message: the rank that it goes over
};
ThesisHelpers thesis_helpers(const CommunicationMatrix& after);

// Where blocks go after Phase I, or after both.
Routes thesis_routes(const CommunicationMatrix& matrix, int phases);

}  // namespace tonari
