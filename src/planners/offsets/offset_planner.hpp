// SPDX-License-Identifier: BSD-3-Clause
// A planner for offsets, and the variants that it makes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planners/offsets/emit.hpp"

namespace tonari {

// A variant by steps and paths, the same on all ranks. Cheap to make: steps and paths are computed
// at the first use.
class OffsetVariant final : public Variant {
 public:
  using Route = std::function<Routing(const Neighborhood&)>;

  // rounds, hops: what route() will produce, known beforehand so that variants can be priced
  // without being made.
  OffsetVariant(std::string algorithm, std::string variant,
                std::shared_ptr<const Neighborhood> near, Collective collective, std::size_t rounds,
                std::size_t hops, Route route);

  Collective collective() const { return collective_; }
  const Neighborhood& near() const { return *near_; }

  // D: messages sent by a rank far from any border
  std::size_t rounds() const override { return rounds_; }
  std::size_t messages() const override { return rounds_; }
  std::size_t tags() const override { return rounds_; }
  // V: blocks such a rank sends in an all-to-all
  std::size_t hops() const override { return hops_; }
  // V, or W for an allgather: blocks such a rank sends
  std::size_t volume() const;
  // Equally many rounds and hops: on the usual patterns the same steps, or others that cost the
  // same.
  std::uint64_t dedup_key() const override;

  const Routing& routing() const;
  Plan plan(int rank, EmitOptions options = {}) const override;

 private:
  const AllgatherTree& tree() const;
  std::shared_ptr<const Neighborhood> near_;
  Collective collective_;
  std::size_t rounds_, hops_;
  Route route_;
  mutable std::optional<Routing> routing_;
  mutable std::optional<AllgatherTree> tree_;
};

// The planner of one algorithm; src/planners/registry.cpp lists them all.
struct OffsetPlanner {
  const char* name;
  // Empty if the algorithm is possible, else the reason why not. Pure and cheap.
  std::string (*applicable)(const Neighborhood& near, Collective collective);
  // All variants worth pricing, fewest rounds first; at least one. Pure; the same on all ranks.
  // Only called if applicable.
  std::vector<OffsetVariant> (*variants)(std::shared_ptr<const Neighborhood> near,
                                         Collective collective);
  // Empty if the algorithm may pay, else the reason why it is not expected to. Pure and cheap, and
  // only called if applicable.
  std::string (*pays)(const Neighborhood& near, Collective collective) =
      [](const Neighborhood&, Collective) { return std::string(); };
};

// One per file of this folder.
extern const OffsetPlanner offset_linear, offset_torus, offset_torus_direct, offset_additive_basis,
    offset_joint_basis;

}  // namespace tonari
