// SPDX-License-Identifier: BSD-3-Clause
#include "select/offset_planner_registry.hpp"

#include "select/price.hpp"

namespace tonari {

std::vector<std::string> OffsetPlannerRegistry::algorithms() const {
  return algorithm_names(AppliesTo::offsets, rows_);
}

std::vector<VariantPtr> OffsetPlannerRegistry::variants(const std::string& algorithm,
                                                        Collective collective, double,
                                                        const std::optional<std::string>& named,
                                                        std::string& reason) {
  const OffsetPlanner& found = *find_algorithm(algorithm, AppliesTo::offsets, rows_).offsets;
  reason = found.applicable(*near_, collective);
  if (!reason.empty()) return {};
  reason = found.pays(*near_, collective);
  if (!reason.empty() && !named) return {};
  const std::pair key(algorithm, collective);
  if (const auto known = planned_.find(key); known != planned_.end()) return known->second;
  std::vector<VariantPtr> all;
  for (OffsetVariant& variant : found.variants(near_, collective))
    all.push_back(std::make_shared<const OffsetVariant>(std::move(variant)));
  return planned_.emplace(key, std::move(all)).first->second;
}

double OffsetPlannerRegistry::share_on_node(std::span<const std::int32_t> node_of) const {
  return tonari::share_on_node(*near_, node_of);
}

}  // namespace tonari
