// What plans an algorithm for offsets, and what it makes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planners/offsets/emit.hpp"

namespace tonari {

// One way to run an algorithm on a neighborhood; the same on all ranks. Cheap to make: steps and
// paths are computed at the first use.
class Schedule {
 public:
  using Route = std::function<Routing(const Neighborhood&)>;

  // rounds, hops: what route() will produce, known beforehand so that schedules can be priced
  // without being made. variant: empty, or what tells it from the algorithm's other variants.
  Schedule(std::string algorithm, std::string variant, std::shared_ptr<const Neighborhood> near,
           Collective collective, std::size_t rounds, std::size_t hops, Route route);

  const std::string& algorithm() const { return algorithm_; }
  const std::string& variant() const { return variant_; }
  std::string label() const {
    return variant_.empty() ? algorithm_ : algorithm_ + " (" + variant_ + ")";
  }
  Collective collective() const { return collective_; }
  const Neighborhood& near() const { return *near_; }

  std::size_t rounds() const { return rounds_; }  // D: messages sent by a rank far from any border
  std::size_t hops() const { return hops_; }      // V: blocks such a rank sends in an all-to-all
  // V, or W for an allgather: blocks such a rank sends
  std::size_t volume() const;

  const Routing& routing() const;
  Plan plan(int rank, EmitOptions options = {}) const;

 private:
  const Tree& tree() const;
  std::string algorithm_, variant_;
  std::shared_ptr<const Neighborhood> near_;
  Collective collective_;
  std::size_t rounds_, hops_;
  Route route_;
  mutable std::optional<Routing> routing_;
  mutable std::optional<Tree> tree_;
};

// The planner of one algorithm; src/planners/registry.cpp lists them all.
struct OffsetPlanner {
  const char* name;
  // Empty if the algorithm can be used, else the reason why not. Pure and cheap.
  std::string (*applicable)(const Neighborhood& near, Collective collective);
  // All variants worth pricing, fewest rounds first; at least one. Pure; the same on all ranks.
  // Only called if applicable.
  std::vector<Schedule> (*schedules)(std::shared_ptr<const Neighborhood> near,
                                     Collective collective);
};

// One per file of this folder.
extern const OffsetPlanner offset_linear, offset_torus, offset_torus_direct, offset_additive_basis,
    offset_joint_basis;

}  // namespace tonari
