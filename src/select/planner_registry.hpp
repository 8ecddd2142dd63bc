// SPDX-License-Identifier: BSD-3-Clause
// The planners that one neighborhood can use, whatever its kind.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/variant.hpp"
#include "topology/neighborhood.hpp"

namespace tonari {

class PlannerRegistry {
 public:
  virtual ~PlannerRegistry() = default;
  virtual std::vector<std::string> algorithms() const = 0;  // linear first
  // The variants of one algorithm, the same on all ranks; none, with the reason, if it is
  // impossible or not expected to pay. named: it is asked for by name, with this variant or, if
  // that is empty, with any. Then it has variants wherever it is possible, and `reason` says why
  // they are not expected to pay, if so. Collective on graphs.
  virtual std::vector<VariantPtr> variants(const std::string& algorithm, Collective collective,
                                           double block_bytes,
                                           const std::optional<std::string>& named,
                                           std::string& reason) = 0;
  // The part of the blocks that stays on a node, as far as all ranks know; node_of: of each rank.
  virtual double share_on_node(std::span<const std::int32_t>) const { return 0; }
};

}  // namespace tonari
