// SPDX-License-Identifier: BSD-3-Clause
// The plan of blocks on devices that combine on the way, where the program asks for an algorithm.
#pragma once

#include <optional>

#include "neighborhood/agree_on_call.hpp"
#include "request/packed_plan.hpp"

namespace tonari {

struct DevicePlan {
  Candidate candidate;
  std::optional<Plan> plan;  // of this rank
  PlanSteps steps;
};

// Collective, together. The plan of the algorithm that is asked for by name. Returns why there is
// none that devices can run, the same on all ranks. Throws Errc::algorithm on all ranks where that
// algorithm cannot be used.
std::optional<Error> plan_for_devices(Context& context, const Problem& problem,
                                      LocalArguments& mine, DevicePlan& planned);
// Local: what of it this rank exchanges, whose blocks lie where `mine` says.
PackedMessages messages_of(const DevicePlan& planned, LocalArguments& mine);

}  // namespace tonari
