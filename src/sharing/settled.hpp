// Messages in two parts must not make a busy rank busier: another rank, to which it writes anyway, takes one of its messages over.
//
//   r ──(s)──▶ t                 r ══(s')══▶ h ──(x)──▶ t       s' and x are stages: the blocks are at r before s', s' < x, and t passes them on after x.
//   r ──(s')─▶ h      becomes                                   No message more if h writes to t in such a stage x anyway, else one for h.
//
// The same step as in Phase II of message sharing (paper 003, Algorithm 4), but on a schedule whose stages are known, so that nothing can wait in a circle again.
#pragma once

#include "sharing/message_schedule.hpp"

namespace tonari {

MessageSchedule settled(const CommunicationMatrix& matrix, MessageSchedule schedule);

}  // namespace tonari
