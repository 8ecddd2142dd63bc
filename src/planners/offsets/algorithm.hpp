// The algorithms and the one table that lists them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
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

struct Algorithm {
  const char* name;
  const char* summary;  // one line, with its source
  // Empty if the algorithm can be used, else the reason why not. Pure and cheap.
  std::string (*applicable)(const Neighborhood& near, Collective collective);
  // All variants worth pricing, fewest rounds first; at least one. Pure; the same on all ranks.
  // Only called if applicable.
  std::vector<Schedule> (*schedules)(std::shared_ptr<const Neighborhood> near,
                                     Collective collective);
};

std::span<const Algorithm> algorithms();
// Throws Errc::algorithm with the list of names if there is none.
const Algorithm& find_algorithm(const std::string& name);

// One per file of this folder.
extern const Algorithm linear_algorithm, torus_algorithm, torus_direct_algorithm,
    additive_basis_algorithm, joint_basis_algorithm;

}  // namespace tonari
