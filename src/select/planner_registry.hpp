// SPDX-License-Identifier: BSD-3-Clause
// The planners that one neighborhood can use, whatever its kind.
#pragma once

#include <string>
#include <vector>

#include "plan/variant.hpp"
#include "topology/neighborhood.hpp"

namespace tonari {

class PlannerRegistry {
 public:
  virtual ~PlannerRegistry() = default;
  virtual std::vector<std::string> algorithms() const = 0;  // linear first
  // The variants of one algorithm, the same on all ranks; none, with the reason, if it cannot be
  // used. Collective on graphs.
  virtual std::vector<VariantPtr> variants(const std::string& algorithm, Collective collective,
                                           double block_bytes, std::string& reason) = 0;
};

}  // namespace tonari
