// SPDX-License-Identifier: BSD-3-Clause
// Schedules as text: who sends which blocks to whom, stage by stage. A line is a message; a block
// is its origin and its target.
//
//   tonari schedule 1
//   ranks 4
//   # stage from to: blocks
//   0 0 1: 0-1 0-2
//   1 1 2: 0-2 1-2
//
// A message leaves when all its blocks are there, so what comes in a stage leaves in a later one.
// Messages ascend by stage, sender and receiver, and blocks by origin and target. Lines that begin
// with # say nothing.
#pragma once

#include <string>

#include "planners/patterns/message_schedule.hpp"

namespace tonari {

std::string schedule_text(const CommunicationMatrix& matrix, const MessageSchedule& schedule);

}  // namespace tonari
