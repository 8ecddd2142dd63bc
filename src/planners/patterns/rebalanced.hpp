// SPDX-License-Identifier: BSD-3-Clause
// The last step of a schedule that is level but for a few messages: a rank that sends more than the
// average, rounded up, hands one of them to another one.
//
//   r ──(s)──▶ t     becomes     r ══(s')══▶ h ──(x)──▶ t
//   r ──(s')─▶ h
//
// s, s' and x are stages: the blocks are at r before s', s' < x, and t passes them on after x.
// There is no additional message if h writes to t in such a stage x anyway, else one for h.
//
// Two things leave such ranks behind. Of messages that wait for each other in a circle one goes in
// two parts (routes.hpp), and Phase II of message sharing (Duymuş 2021, Algorithm 4) moves a
// message only once. Here stages are known, so every block may have a way of its own and nothing
// can wait in a circle again.
//
//   Helpers  Ranks that r writes to anyway; none is lifted above the average, rounded up. Where all
//            have as much as that, one of them finds a helper of its own first, at most three ranks
//            on.
//   Choice   The message with the fewest words that can go. Its blocks first go where messages are
//            anyway. The others go together over the helper that sends the fewest, of equal ones
//            the lowest.
//   Limits   Schedules stay as they are if a rank is further above the average than an eighth of
//            it, and than two messages. Words would be spent, and the busiest rank, a hub, would
//            remain. Work is limited to a few looks per block.
#pragma once

#include "planners/patterns/message_schedule.hpp"

namespace tonari {

MessageSchedule rebalanced(const CommunicationMatrix& matrix, MessageSchedule schedule);

}  // namespace tonari
