// SPDX-License-Identifier: BSD-3-Clause
// A planner registry with one algorithm more: the schedule of a file
// (planners/graphs/scheduled.hpp).
#pragma once

#include <map>
#include <memory>

#include "planners/graphs/scheduled.hpp"
#include "select/planner_registry.hpp"

namespace tonari {

class ScheduledRegistry final : public PlannerRegistry {
 public:
  // `bsp` has one rank here, that of `vertex`; both must outlive this. own: checked, and of the
  // same file on all ranks.
  ScheduledRegistry(std::unique_ptr<PlannerRegistry> inner, BspComm& bsp, const Vertex& vertex,
                    OwnSchedule own)
      : inner_(std::move(inner)), bsp_(bsp), vertex_(vertex), own_(std::move(own)) {}

  std::vector<std::string> algorithms() const override;
  // Collective, even where the inner registry is not.
  std::vector<VariantPtr> variants(const std::string& algorithm, Collective collective,
                                   double block_bytes, const std::optional<std::string>& named,
                                   std::string& reason) override;

 private:
  std::unique_ptr<PlannerRegistry> inner_;
  BspComm& bsp_;
  const Vertex& vertex_;
  OwnSchedule own_;
  std::map<Collective, VariantPtr> planned_;  // by all ranks or by none
};

}  // namespace tonari
