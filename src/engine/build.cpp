#include "engine/native_exchange.hpp"
#include "engine/plan_exchange.hpp"
#include "engine/selector.hpp"

namespace tonari {

std::unique_ptr<Exchange> build(Context& context, const Candidate& candidate, const Settings& settings, const Arguments& arguments,
                                const Binding& binding, int first_tag) {
  if (!candidate.schedule) return std::make_unique<NativeExchange>(arguments, *context.near(), context.rank(), context.graph());
  const bool typed = candidate.channel.via == Via::typed;
  const Plan plan = candidate.schedule->plan(context.rank(), {typed ? Storage::alternate : Storage::separate, settings.ports});
  P2pProgram program = typed ? compile_typed(plan, binding, arguments) : compile_packed(plan, binding, candidate.channel.segment);
  return std::make_unique<PlanExchange>(plan, std::move(program), context.shared_comm(), PlanExchange::Options{first_tag, !candidate.channel.immediate});
}

}  // namespace tonari
