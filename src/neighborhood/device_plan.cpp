// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/device_plan.hpp"

#include "engine/run/forwarded_sizes.hpp"
#include "request/first_reason.hpp"

namespace tonari {

std::optional<Error> plan_for_devices(Context& context, const Problem& problem,
                                      LocalArguments& mine, DevicePlan& planned) {
  std::vector<Candidate> chosen{fixed_rule(problem, mine.settings)};
  exchange_forwarded_sizes(context, chosen, problem, mine.settings, mine.given());
  planned.candidate = std::move(chosen.front());
  std::vector<TagOrder> orders;
  const std::optional<Error> unable = error_of([&] {
    // each block has a place of its own, and messages leave as soon as their step may
    planned.plan = planned.candidate.planned->plan(context.rank(), {Storage::separate, 0});
    orders = Origins(*planned.plan).tag_orders();
  });
  if (auto reason = first_reason(context.comm(), unable)) return reason;
  const std::optional<Error> circular =
      error_of([&] { planned.steps = steps_of(context, planned.candidate.tags(), orders); });
  return first_reason(context.comm(), circular);
}

PackedMessages messages_of(const DevicePlan& planned, LocalArguments& mine) {
  Binding binding = mine.given();
  if (planned.candidate.forwarded) binding.forwarded = *planned.candidate.forwarded;
  return packed_messages(*planned.plan, planned.steps, binding);
}

}  // namespace tonari
