// SPDX-License-Identifier: BSD-3-Clause
#include "engine/run/build.hpp"

#include "engine/run/native_exchange.hpp"
#include "engine/run/plan_exchange.hpp"

namespace tonari {
namespace {

Packing packing_for(const Plan& plan, const Settings& settings, const Edges& edges) {
  Packing packing;
  if (!edges.any()) return packing;
  packing.views = settings.recv_view;
  for (OpId op = 0; op < plan.size(); ++op)
    packing.slots.push_back(edges.has(op) ? &edges.slots(op) : nullptr);
  return packing;
}

}  // namespace

std::unique_ptr<Exchange> build(Context& context, const Candidate& candidate,
                                const Settings& settings, const Arguments& arguments, int first_tag,
                                Wiring wiring) {
  if (!wiring.plan)
    return std::make_unique<NativeExchange>(context, arguments, std::move(wiring.graph),
                                            settings.timeout);
  const Plan& plan = *wiring.plan;
  const ChannelChoice::Part& base = candidate.channel.base;
  P2pProgram program = base.row->compile(
      {plan, wiring.binding, arguments, base.detail, packing_for(plan, settings, wiring.edges)});
  PlanExchange::Options options{first_tag, program.persistent, context.node()};
  // where all goes by the MPI, it gives the core away
  options.wait = {wiring.edges.any() && context.node()->crowded(), settings.timeout};
  options.edges = std::move(wiring.edges);
  return std::make_unique<PlanExchange>(plan, std::move(program), context.shared_comm(),
                                        std::move(options));
}

}  // namespace tonari
