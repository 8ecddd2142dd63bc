// SPDX-License-Identifier: BSD-3-Clause
// The planners for offsets, on an isomorphic neighborhood. Nothing here is collective. What was
// planned is kept.
#pragma once

#include <map>
#include <utility>

#include "planners/registry.hpp"
#include "select/planner_registry.hpp"

namespace tonari {

class OffsetPlannerRegistry final : public PlannerRegistry {
 public:
  explicit OffsetPlannerRegistry(std::shared_ptr<const Neighborhood> near,
                                 std::span<const AlgorithmRow> rows = tonari::algorithms())
      : near_(std::move(near)), rows_(rows) {}
  std::vector<std::string> algorithms() const override;
  std::vector<VariantPtr> variants(const std::string& algorithm, Collective collective,
                                   double block_bytes, const std::optional<std::string>& named,
                                   std::string& reason) override;
  double share_on_node(std::span<const std::int32_t> node_of) const override;

 private:
  std::shared_ptr<const Neighborhood> near_;
  std::span<const AlgorithmRow> rows_;
  std::map<std::pair<std::string, Collective>, std::vector<VariantPtr>> planned_;
};

}  // namespace tonari
