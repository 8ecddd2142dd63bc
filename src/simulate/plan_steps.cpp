// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/plan_steps.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cost/partners.hpp"
#include "simulate/machine.hpp"
#include "simulate/schedule_builder.hpp"
#include "simulate/shifts.hpp"

namespace tonari::sim {
namespace {

using Id = std::uint32_t;

struct Ends {  // the first and the last step of an operation, and the one with its message
  Id first, last, message;
};

LogGP without_overhead(LogGP machine) {
  machine.o = 0;
  return machine;
}

Ends add_operation(ScheduleBuilder& builder, const Operation& op, const Effort& effort) {
  const Ticks copies = to_ticks(effort.busy);
  if (op.kind == Kind::exchange) fail(Errc::internal, "an exchange in place cannot be simulated");
  if (op.kind == Kind::copy || effort.bytes == 0) {
    const Id calc = builder.add(Act::calc, copies);
    return {calc, calc, calc};
  }
  const bool sends = op.kind == Kind::send;
  const auto message = [&] {
    return builder.add(sends ? Act::send : Act::recv, effort.bytes, static_cast<Id>(op.peer));
  };
  if (copies == 0) {
    const Id only = message();
    return {only, only, only};
  }
  const Id before = sends ? builder.add(Act::calc, copies) : message();
  const Id after = sends ? message() : builder.add(Act::calc, copies);
  builder.require(after, before);
  return {before, after, sends ? after : before};
}

// Returns the step with the message of each operation; efforts: of its operations.
std::vector<Id> add_plan(ScheduleBuilder& builder, const Plan& plan,
                         std::span<const Effort> efforts) {
  std::vector<Ends> ends;
  ends.reserve(plan.size());
  for (OpId op = 0; op < plan.size(); ++op)
    ends.push_back(add_operation(builder, plan[op], efforts[op]));
  std::vector<Id> messages;
  for (OpId op = 0; op < plan.size(); ++op) {
    for (OpId next : plan.successors(op)) builder.require(ends[next].first, ends[op].last);
    messages.push_back(ends[op].message);
  }
  builder.end_rank();
  return messages;
}

std::vector<Effort> efforts_of(const Plan& plan, const BlockBytes& bytes, const LogGP& machine) {
  std::vector<Effort> efforts;
  for (const Operation& op : plan.operations())
    efforts.push_back(effort_of(plan, op, bytes, machine, {}));
  return efforts;
}

// -- shared programs

struct End {
  std::int32_t tag;
  int rank;  // to which rank 0 sends
  auto operator<=>(const End&) const = default;
};

// What rank 0 sends with a shift, the receiver gets as rank 0 does from the opposite shift.
void match(Schedule& schedule, Shifts& shifts, const std::vector<std::pair<End, Id>>& sends,
           const std::map<End, Id>& receives) {
  for (const auto& [end, send] : sends) {
    const auto found = receives.find(end);
    if (found == receives.end()) fail(Errc::internal, "a message of the plan has no other end");
    schedule.steps[send].other = found->second;
    schedule.steps[found->second].other = send;
    schedule.steps[send].peer = shifts.to(end.rank);
    schedule.steps[found->second].peer = shifts.to(shifts.back(end.rank));
  }
}

Schedule shared_schedule(const Variant& variant, const Grid& grid, const BlockBytes& bytes,
                         const LogGP& machine) {
  const Plan plan = variant.plan(0);
  const std::vector<Effort> efforts = efforts_of(plan, bytes, without_overhead(machine));
  ScheduleBuilder builder;
  const std::vector<Id> messages = add_plan(builder, plan, efforts);
  Schedule schedule = builder.take();
  Shifts shifts(schedule, grid);
  std::vector<std::pair<End, Id>> sends;
  std::map<End, Id> receives;
  for (OpId op = 0; op < plan.size(); ++op) {
    if (efforts[op].bytes == 0) continue;
    if (plan[op].kind == Kind::send) sends.push_back({{plan[op].tag, plan[op].peer}, messages[op]});
    if (plan[op].kind == Kind::recv)
      receives.emplace(End{plan[op].tag, shifts.back(plan[op].peer)}, messages[op]);
  }
  match(schedule, shifts, sends, receives);
  return schedule;
}

}  // namespace

Schedule schedule_of(std::span<const Plan> plans, std::span<const BlockBytes> bytes,
                     const LogGP& machine) {
  ScheduleBuilder builder;
  std::vector<Id> messages;  // per operation of all plans
  std::vector<std::uint64_t> sizes;
  for (std::size_t k = 0; k < plans.size(); ++k) {
    const Plan& plan = plans[k];
    const std::vector<Effort> efforts = efforts_of(plan, bytes[k], without_overhead(machine));
    const std::vector<Id> added = add_plan(builder, plan, efforts);
    messages.insert(messages.end(), added.begin(), added.end());
    for (const Effort& effort : efforts) sizes.push_back(effort.bytes);
  }
  Schedule schedule = builder.take();
  const std::vector<std::uint32_t> ends = partners(plans, sizes);
  std::size_t op = 0;
  for (Id rank = 0; rank < schedule.ranks; ++rank)
    for (OpId k = 0; k < plans[rank].size(); ++k, ++op)
      if (ends[op] != no_partner)
        schedule.steps[schedule.begin[rank] + messages[op]].other = messages[ends[op]];
  return schedule;
}

Schedule schedule_of(const Variant& variant, const Grid& grid, std::uint64_t block_bytes,
                     const LogGP& machine) {
  const BlockBytes bytes = [&](Slice) { return block_bytes; };
  if (grid.fully_periodic()) return shared_schedule(variant, grid, bytes, machine);
  std::vector<Plan> plans;
  for (int rank = 0; rank < grid.ranks(); ++rank) plans.push_back(variant.plan(rank));
  return schedule_of(plans, std::vector<BlockBytes>(plans.size(), bytes), machine);
}

namespace {

Schedule native_on_torus(const Neighborhood& near, std::uint64_t bytes) {
  ScheduleBuilder builder;
  const Id count = static_cast<Id>(near.offsets.size());
  const NeighborRanks ranks = neighbor_ranks(near, 0);
  for (Id i = 0; i < count; ++i) builder.add(Act::recv, bytes, 0, count + i);
  for (Id i = 0; i < count; ++i) builder.add(Act::send, bytes, 0, i);
  builder.end_rank();
  Schedule schedule = builder.take();
  Shifts shifts(schedule, near.grid);
  for (Id i = 0; i < count; ++i) {
    schedule.steps[i].peer = shifts.to(ranks.sources[i]);
    schedule.steps[count + i].peer = shifts.to(ranks.targets[i]);
  }
  return schedule;
}

}  // namespace

// A block for nobody, or from nobody, has no step.
Schedule native_schedule(std::span<const Vertex> vertices, std::uint64_t block_bytes) {
  ScheduleBuilder builder;
  std::vector<std::vector<Id>> sends(vertices.size());  // step of each block
  for (const Vertex& v : vertices) {
    for (std::int32_t source : v.sources)
      if (source >= 0) builder.add(Act::recv, block_bytes, static_cast<Id>(source));
    for (std::size_t i = 0; i < v.targets.size(); ++i)
      sends[static_cast<std::size_t>(v.rank)].push_back(
          v.targets[i] < 0 ? any
                           : builder.add(Act::send, v.bytes.empty() ? block_bytes : v.bytes[i],
                                         static_cast<Id>(v.targets[i])));
    builder.end_rank();
  }
  Schedule schedule = builder.take();
  for (const Vertex& v : vertices) {
    Id receive = 0;
    for (std::size_t j = 0; j < v.sources.size(); ++j) {
      if (v.sources[j] < 0) continue;
      const auto source = static_cast<std::size_t>(v.sources[j]);
      const Id send = sends[source][v.origins[j]];
      Step& here = schedule.steps[schedule.begin[static_cast<std::size_t>(v.rank)] + receive];
      Step& there = schedule.steps[schedule.begin[source] + send];
      here.other = send;
      here.size = there.size;
      there.other = receive++;
    }
  }
  return schedule;
}

Schedule native_schedule(const Neighborhood& near, std::uint64_t block_bytes) {
  if (near.grid.fully_periodic()) return native_on_torus(near, block_bytes);
  std::vector<Vertex> vertices;
  for (int rank = 0; rank < near.grid.ranks(); ++rank) {
    const NeighborRanks ranks = neighbor_ranks(near, rank);
    vertices.push_back({rank, ranks.targets, ranks.sources, {}, rank, {rank}});
    for (std::size_t i = 0; i < near.offsets.size(); ++i)
      vertices.back().origins.push_back(static_cast<Id>(i));
  }
  return native_schedule(vertices, block_bytes);
}

}  // namespace tonari::sim
