#include "engine/native_exchange.hpp"
#include "engine/passing.hpp"
#include "engine/plan_exchange.hpp"
#include "engine/selector.hpp"

namespace tonari {
namespace {

Packing packing_for(const Plan& plan, const Candidate& candidate, const Settings& settings,
                    const Edges& edges) {
  Packing packing{candidate.channel.segment, {}, settings.recv_view && edges.any()};
  if (!edges.any()) return packing;
  for (OpId op = 0; op < plan.size(); ++op)
    packing.landings.push_back(edges.has(op) ? &edges.landings(op) : nullptr);
  return packing;
}

}  // namespace

std::unique_ptr<Exchange> build(Context& context, const Candidate& candidate,
                                const Settings& settings, const Arguments& arguments,
                                const Binding& binding, int first_tag, Wiring wiring) {
  if (!candidate.planned)
    return std::make_unique<NativeExchange>(context, arguments, std::move(wiring.graph));
  const Plan plan =
      wiring.plan ? std::move(*wiring.plan) : plan_of(candidate, settings, context.rank());
  Binding bound = binding;
  if (candidate.passing) bound.passing = *candidate.passing;
  const bool typed = candidate.channel.via == Via::typed;
  P2pProgram program =
      typed ? compile_typed(plan, bound, arguments)
            : compile_packed(plan, bound, packing_for(plan, candidate, settings, wiring.edges));
  PlanExchange::Options options{first_tag, !candidate.channel.immediate, context.node()->ranks()};
  if (wiring.edges.any()) options.wait = {context.node()->crowded(), settings.timeout};
  options.edges = std::move(wiring.edges);
  return std::make_unique<PlanExchange>(plan, std::move(program), context.shared_comm(),
                                        std::move(options));
}

}  // namespace tonari
