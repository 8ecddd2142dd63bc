// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/alike.hpp"

#include <algorithm>

namespace tonari::sim {
namespace {

bool has_long_messages(const Schedule& schedule, const Machine& machine) {
  return std::any_of(schedule.steps.begin(), schedule.steps.end(), [&](const Step& step) {
    return step.act != Act::calc && step.size > machine.eager;
  });
}

// Every shift leads to the one rank, as a message to another rank does.
Schedule for_one_rank(Schedule schedule) {
  schedule.ranks = 1;
  schedule.dims = {1};
  for (Shift& shift : schedule.shifts) shift.offset = Vec{};
  return schedule;
}

}  // namespace

std::optional<Outcome> run_alike(const Schedule& schedule, const Machine& machine) {
  if (!schedule.shared() || !uniform(machine) || has_long_messages(schedule, machine))
    return std::nullopt;
  const Schedule one = for_one_rank(schedule);
  const Machine shared = in_turns(machine, schedule.ranks);
  const auto engine = make_engine(one, shared, true);
  while (engine->advance(1u << 20) && !engine->tied()) {
  }
  if (engine->tied()) return std::nullopt;
  return Outcome{engine->outcome().end, engine->outcome().events * schedule.ranks};
}

}  // namespace tonari::sim
