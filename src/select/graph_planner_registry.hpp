// SPDX-License-Identifier: BSD-3-Clause
// The planners for graphs, on the part of the graph that is in this process: one rank's, or all of
// it. What was planned is kept: the same question is answered at once.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "planners/registry.hpp"
#include "select/planner_registry.hpp"

namespace tonari {

class GraphPlannerRegistry final : public PlannerRegistry {
 public:
  // `bsp` holds just the ranks of `vertices`; both must outlive this. `machine` is called once,
  // when something is first planned that looks at it; collective.
  GraphPlannerRegistry(BspComm& bsp, std::span<const Vertex> vertices, const GraphFacts& facts,
                       std::function<LogGP()> machine,
                       std::span<const AlgorithmRow> rows = tonari::algorithms())
      : bsp_(bsp), vertices_(vertices), facts_(facts), machine_(std::move(machine)), rows_(rows) {}

  std::vector<std::string> algorithms() const override;
  std::vector<VariantPtr> variants(const std::string& algorithm, Collective collective,
                                   double block_bytes, const std::optional<std::string>& named,
                                   std::string& reason) override;

 private:
  struct Planned {
    std::vector<VariantPtr> variants;
    std::string reason;
  };
  Planned plan(const GraphPlanner& algorithm, const GraphTask& task);

  BspComm& bsp_;
  std::span<const Vertex> vertices_;
  const GraphFacts& facts_;
  std::function<LogGP()> machine_;
  std::optional<LogGP> known_machine_;  // by all ranks or by none
  std::span<const AlgorithmRow> rows_;
  // algorithm, collective, size class, the variant if it is asked for by name
  using Question = std::tuple<std::string, Collective, int, std::optional<std::string>>;
  std::map<Question, Planned> planned_;
};

}  // namespace tonari
