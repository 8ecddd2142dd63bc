// SPDX-License-Identifier: BSD-3-Clause
// More stages for a schedule: the messages of a stage are the blocks of a pattern of their own,
// which is planned in two stages.
//
//   stage 0    a ──────────▶ x             stage 0   a ──▶ y
//                                          stage 1         y ──▶ x
//   stage 1                  x ──▶ t       stage 2               x ──▶ t
//
// This is where many stages begin. Their edges are those that two stages could not do without, a
// small part of the pattern's.
#pragma once

#include "planners/patterns/balance_options.hpp"
#include "planners/patterns/message_schedule.hpp"

namespace tonari {

// The stages with the most messages are split, all of them before one is split again, until there
// are options.stages, or none gets two. Keeps to options.words if the schedule does.
MessageSchedule split_stages(const CommunicationMatrix& matrix, const BalanceOptions& options,
                             MessageSchedule schedule);

}  // namespace tonari
