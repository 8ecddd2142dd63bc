// Message sharing (paper 003: M. Duymuş 2021): the bottleneck, the rank that sends the most
// messages, hands blocks to another rank that writes to the same target anyway, again and again.
// Phase I (Algorithms 1 to 3) gives every block at most one stop; Phase II (Algorithm 4) moves
// whole messages of what Phase I made.
//
//   P_max ──▶ t              P_max ══▶ P_friend ──▶ t         One message less for P_max, none more for P_friend, if P_max has one for P_friend
//   P_friend ──▶ t  becomes                                   anyway; else one overhead message, which may carry many blocks.
//
// Where the text is open or contradicts itself:
//   Counting   |SS(P)| are true out-degrees: messages that carry anything, first hops and forwarded blocks included. The text only counts down, though a rank
//              that forwards to a target keeps that message when its own block leaves. So Algorithm 3's check (do not give away the message to a rank
//              through which you send) follows by itself: giving it away would save nothing.
//   Friends    The common targets are those of the initial send sets, as in the text; so the same friend would come again for ever. Ranks that have been paired
//              are not paired again. Of equal friends the one that sends fewer messages, then the lower rank.
//   Bottleneck Of equal ones the lowest rank (Algorithm 1); `max` and `min` are reset in every iteration, which both algorithms forget.
//   Sharing    (4.1) with alpha clamped to what can move, and the overhead messages counted in; blocks in the order of targets. A block moves
//              only if its message disappears with it, and a pairing that does not lower P_max, or lifts the friend to where P_max was, is undone.
//   Groups     Cases 2 to 4 are one: whoever of the pair still sends its block to t itself, while the other's goes by way of g, gives its block to g as well,
//              if g is not the first of the pair itself; g sends to t anyway. Worth it if the message to g exists or at least two blocks go there.
//   Stopping   Text: when the bottleneck cannot be lowered (Stop::bottleneck). Stop::each sets it aside, and the next busiest goes on: the text notes that
//              this helps others. Far fewer messages, on which Phase II balances, for more words.
//   Phase II   alpha = (|SS(P_max)| - |SS(P_min)|) / 2, but P_min is not lifted above the average: what it took over it may not pass on, so it
//              could never come down again. A message to P_min itself does not move, nor does one that carries what was moved in this phase, nor one that has
//              moved. Near the end, where the message to P_min costs what it saves, P_max turns to those it writes to anyway, then to anybody who
//              is lifted halfway to it at most. combine() settles the few messages that are left above the average (settled.hpp): there a message may
//              move again, and its blocks each by a way of their own.
//   Paths      A message of Phase I's result is replaced by two at most, so a block makes up to 4 hops, and one more whenever it is settled. Where it would pass
//              a rank twice the loop is cut out.
#pragma once

#include <vector>

#include "planners/patterns/routes.hpp"

namespace tonari {

enum class Stop : std::uint8_t { bottleneck, each };

// After Phase I: who sends each block to its target, the paper's `sender` array; the origin itself
// if it goes directly.
struct SharedSenders {
  std::vector<std::int32_t> sender;  // by block
  int pairings = 0;
};

SharedSenders share_common_messages(const CommunicationMatrix& matrix, Stop stop = Stop::each);

// One pairing, for P_max = a and P_friend = b, with all senders as they are: what Fig. 4.1 shows.
void share_pair(const CommunicationMatrix& matrix, int a, int b,
                std::vector<std::int32_t>& senders);

// The second hop's matrix (§5): who sends anything to whom once blocks go by their senders; words
// are those that such a message carries.
CommunicationMatrix second_hop_matrix(const CommunicationMatrix& matrix,
                                      const SharedSenders& shared);

Routes sharing_routes(const CommunicationMatrix& matrix, const SharedSenders& shared);

// Phases 1 or 1 and 2. For messages: combine(matrix, share_messages(matrix, 2)).
Routes share_messages(const CommunicationMatrix& matrix, int phases, Stop stop = Stop::each);

}  // namespace tonari
