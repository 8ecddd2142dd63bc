// SPDX-License-Identifier: BSD-3-Clause
#include "select/graph_planner_registry.hpp"

#include <cmath>

namespace tonari {

std::vector<std::string> GraphPlannerRegistry::algorithms() const {
  return algorithm_names(AppliesTo::graphs, rows_);
}

GraphPlannerRegistry::Planned GraphPlannerRegistry::plan(const GraphPlanner& algorithm,
                                                         const GraphTask& task) {
  Planned planned;
  const Objection against = objection(algorithm, facts_, task);
  planned.reason = against.reason();
  if (!against.plans(task)) return planned;
  for (GraphVariant& variant : algorithm.variants(bsp_, vertices_, facts_, task)) {
    variant.gather(bsp_);
    planned.variants.push_back(std::make_shared<const GraphVariant>(std::move(variant)));
  }
  return planned;
}

std::vector<VariantPtr> GraphPlannerRegistry::variants(const std::string& algorithm,
                                                       Collective collective, double block_bytes,
                                                       const std::optional<std::string>& named,
                                                       std::string& reason) {
  const GraphPlanner& found = *find_algorithm(algorithm, AppliesTo::graphs, rows_).graphs;
  const int size_class =
      block_bytes < 1 ? 0 : 1 + static_cast<int>(std::lround(2 * std::log2(block_bytes)));
  const bool linear = algorithm == "linear";
  // linear is always planned: whoever names it asks for nothing new
  const std::optional<std::string> asked = linear ? std::nullopt : named;
  const Question key(algorithm, collective, size_class, asked);
  auto known = planned_.find(key);
  if (known == planned_.end()) {
    // linear looks at no machine: it must not be the reason to measure one
    if (!linear && !known_machine_) known_machine_ = machine_();
    const GraphTask task{collective, block_bytes, linear ? LogGP{} : *known_machine_,
                         asked.has_value(), asked.value_or("")};
    std::map<Question, Planned> fresh;
    bsp_.run_collectively([&] { fresh.emplace(key, plan(found, task)); });
    planned_.merge(
        fresh);  // by all of the communicator or by none: it decides who plans with the others
    known = planned_.find(key);
  }
  reason = known->second.reason;
  return known->second.variants;
}

}  // namespace tonari
