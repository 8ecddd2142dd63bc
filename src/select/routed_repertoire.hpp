// The algorithms for isomorphic neighborhoods (planners/algorithm.hpp). Nothing here is collective.
// What was planned is kept.
#pragma once

#include <map>
#include <utility>

#include "planners/offsets/offset_planner.hpp"
#include "select/scheme.hpp"

namespace tonari {

class RoutedRepertoire final : public Repertoire {
 public:
  explicit RoutedRepertoire(std::shared_ptr<const Neighborhood> near) : near_(std::move(near)) {}
  std::vector<std::string> algorithms() const override;
  std::vector<SchemePtr> schemes(const std::string& algorithm, Collective collective,
                                 double block_bytes, std::string& reason) override;

 private:
  std::shared_ptr<const Neighborhood> near_;
  std::map<std::pair<std::string, Collective>, std::vector<SchemePtr>> planned_;
};

}  // namespace tonari
