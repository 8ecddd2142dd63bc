// The algorithms for graphs (planners/graphs/graph_planner.hpp) on one rank's part of the graph. What
// was planned is kept: the same question is answered at once.
#pragma once

#include <functional>
#include <map>
#include <tuple>

#include "planners/graphs/graph_planner.hpp"
#include "select/scheme.hpp"

namespace tonari {

class GraphRepertoire final : public Repertoire {
 public:
  // world: holds just the rank of `vertex`; both must outlive this. machine: asked for when
  // something is first planned; collective.
  GraphRepertoire(World& world, const Vertex& vertex, const GraphFacts& facts,
                  std::function<LogGP()> machine)
      : world_(world), vertex_(vertex), facts_(facts), machine_(std::move(machine)) {}

  std::vector<std::string> algorithms() const override;
  std::vector<SchemePtr> schemes(const std::string& algorithm, Collective collective,
                                 double block_bytes, std::string& reason) override;

 private:
  struct Planned {
    std::vector<SchemePtr> schemes;
    std::string reason;
  };
  Planned plan(const GraphPlanner& algorithm, const GraphTask& task);

  World& world_;
  const Vertex& vertex_;
  const GraphFacts& facts_;
  std::function<LogGP()> machine_;
  using Question = std::tuple<std::string, Collective, int>;  // algorithm, collective, size class
  std::map<Question, Planned> planned_;
};

}  // namespace tonari
