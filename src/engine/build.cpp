#include "engine/native_exchange.hpp"
#include "engine/passing.hpp"
#include "engine/plan_exchange.hpp"
#include "engine/selector.hpp"

namespace tonari {

std::unique_ptr<Exchange> build(Context& context, const Candidate& candidate, const Settings& settings, const Arguments& arguments,
                                const Binding& binding, int first_tag) {
  if (!candidate.scheme)
    return std::make_unique<NativeExchange>(arguments, context.vertex(), context.place().shape, context.graph());
  const Plan plan = plan_of(candidate, settings, context.rank());
  Binding bound = binding;
  if (candidate.passing) bound.passing = *candidate.passing;
  P2pProgram program = candidate.channel.via == Via::typed ? compile_typed(plan, bound, arguments) : compile_packed(plan, bound, candidate.channel.segment);
  return std::make_unique<PlanExchange>(plan, std::move(program), context.shared_comm(), 
                                        PlanExchange::Options{first_tag, !candidate.channel.immediate, context.vertex().node_ranks});
}

}  // namespace tonari
