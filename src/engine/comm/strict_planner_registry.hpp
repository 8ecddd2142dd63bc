// SPDX-License-Identifier: BSD-3-Clause
// A planner registry without the algorithms that send to ranks which are no neighbors
// (cdag_strict_communication).
#pragma once

#include <mpi.h>

#include <map>
#include <memory>

#include "select/planner_registry.hpp"
#include "topology/vertex.hpp"

namespace tonari {

class StrictPlannerRegistry final : public PlannerRegistry {
 public:
  // `comm` has all ranks. It and `vertex` must outlive this.
  StrictPlannerRegistry(std::unique_ptr<PlannerRegistry> inner, const Vertex& vertex, MPI_Comm comm)
      : inner_(std::move(inner)), vertex_(vertex), comm_(comm) {}

  std::vector<std::string> algorithms() const override { return inner_->algorithms(); }
  // Collective, even where the inner registry is not.
  std::vector<VariantPtr> variants(const std::string& algorithm, Collective collective,
                                   double block_bytes, const std::optional<std::string>& named,
                                   std::string& reason) override;

 private:
  void look_at(const std::vector<VariantPtr>& variants);

  std::unique_ptr<PlannerRegistry> inner_;
  const Vertex& vertex_;
  MPI_Comm comm_;
  std::map<VariantPtr, bool> known_;  // whether it is allowed
};

}  // namespace tonari
