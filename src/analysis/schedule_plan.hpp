// SPDX-License-Identifier: BSD-3-Clause
// Turns schedules into plans, for the simulator and for the reference executor.
#pragma once

#include <vector>

#include "plan/plan.hpp"
#include "planners/patterns/message_schedule.hpp"

namespace tonari {

// Send block k of a rank is the k-th block of its row, receive block k the k-th of its column. What
// is passed on waits in scratch blocks of `foreign` size. The tag of a message is its stage. Throws
// Errc::internal if a block leaves that is not there, comes twice, or does not come.
Plan schedule_plan(const CommunicationMatrix& matrix, const MessageSchedule& schedule, int rank);
// of all ranks; linear in the hops
std::vector<Plan> schedule_plans(const CommunicationMatrix& matrix,
                                 const MessageSchedule& schedule);

}  // namespace tonari
