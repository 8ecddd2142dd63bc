// SPDX-License-Identifier: BSD-3-Clause
// Message sharing (Duymuş 2021): the bottleneck, the rank that sends the most messages, hands
// blocks to another rank that writes to the same target anyway, again and again. Phase I
// (Algorithms 1 to 3) gives every block at most one stop; Phase II (Algorithm 4) moves whole
// messages of what Phase I made.
//
//   P_max ────▶ t     becomes     P_max ══▶ P_friend ──▶ t
//   P_friend ─▶ t
//
// P_max sends one message less, and P_friend none more, if P_max has one for P_friend anyway. Else
// there is one overhead message, which may carry many blocks.
//
// Where the text is open or contradicts itself:
//   Counting   |SS(P)| are true out-degrees: messages that carry anything, first hops and forwarded
//              blocks included. The text only counts down, though a rank that forwards to a target
//              keeps that message when its own block leaves. So Algorithm 3's check (do not give
//              away the message to a rank through which you send) follows by itself: giving it away
//              would save nothing.
//   Friends    The common targets are those of the initial send sets, as in the text, so the same
//              friend would come again for ever. Ranks that have been paired are not paired again.
//              Of equal friends the one that sends fewer messages is taken, then the lower rank.
//   Bottleneck Of equal ones it is the lowest rank (Algorithm 1). `max` and `min` are reset in
//              every iteration, which both algorithms forget.
//   Sharing    (4.1) with alpha clamped to what can move, and the overhead messages counted in;
//              blocks in the order of targets. A block moves only if its message disappears with
//              it. A pairing that does not lower P_max, or lifts the friend to where P_max was, is
//              undone.
//   Groups     Cases 2 to 4 are one. One of the pair still sends its block to t itself, while the
//              other's goes by way of g. The first gives its block to g as well, if g is not the
//              first of the pair itself; g sends to t anyway. This pays if the message to g exists
//              or at least two blocks go there.
//   Stopping   The text stops when the bottleneck cannot be lowered (Stop::bottleneck). Stop::each
//              sets it aside, and the next busiest goes on: the text notes that this helps others.
//              It gives far fewer messages, on which Phase II balances, for more words.
//   Phase II   alpha = (|SS(P_max)| - |SS(P_min)|) / 2, but P_min is not lifted above the average.
//              What it took over it may not pass on, so it could never come down again. A message
//              to P_min itself does not move. Nor does one that carries what was moved in this
//              phase, nor one that has moved. Near the end the message to P_min costs what it
//              saves. Then P_max turns to ranks that it writes to anyway, and then to any rank that
//              is lifted halfway to it at most. combine() rebalances the few messages that are left
//              above the average (rebalanced.hpp): there a message may move again, and its blocks
//              each by a way of their own.
//   Paths      A message of Phase I's result is replaced by two at most. So a block makes up to 4
//              hops, and one more whenever it is rebalanced. Where it would pass a rank twice the
//              loop is cut out.
#pragma once

#include <vector>

#include "planners/patterns/routes.hpp"

namespace tonari {

enum class Stop : std::uint8_t { bottleneck, each };

// After Phase I: the rank that sends each block to its target, the paper's `sender` array; the
// origin itself if it goes directly.
struct SharedSenders {
  std::vector<std::int32_t> sender;  // by block
  int pairings = 0;
};

SharedSenders share_common_messages(const CommunicationMatrix& matrix, Stop stop = Stop::each);

// One pairing, for P_max = a and P_friend = b, with all senders as they are: what Fig. 4.1 shows.
void share_pair(const CommunicationMatrix& matrix, int a, int b,
                std::vector<std::int32_t>& senders);

// The second hop's matrix (§5): which rank sends to which once blocks go by their senders; words
// are those that such a message carries.
CommunicationMatrix second_hop_matrix(const CommunicationMatrix& matrix,
                                      const SharedSenders& shared);

Routes sharing_routes(const CommunicationMatrix& matrix, const SharedSenders& shared);

// After both phases: blocks go by their senders, and each hop that has a helper over that.
// helpers: of the messages of `after`, which second_hop_matrix has made; no_helper: none.
constexpr std::int32_t no_helper = -1;
Routes helped_routes(const CommunicationMatrix& matrix, const SharedSenders& shared,
                     const CommunicationMatrix& after, const std::vector<std::int32_t>& helpers);

// Phase II on top of it.
Routes second_phase_routes(const CommunicationMatrix& matrix, const SharedSenders& shared);

// Phases 1 or 1 and 2. For messages: combine(matrix, share_messages(matrix, 2)).
Routes share_messages(const CommunicationMatrix& matrix, int phases, Stop stop = Stop::each);

}  // namespace tonari
