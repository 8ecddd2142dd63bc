// SPDX-License-Identifier: BSD-3-Clause
#include "planners/offsets/offset_planner.hpp"

#include "base/error.hpp"
#include "base/hash.hpp"

namespace tonari {

OffsetVariant::OffsetVariant(std::string algorithm, std::string variant,
                             std::shared_ptr<const Neighborhood> near, Collective collective,
                             std::size_t rounds, std::size_t hops, Route route)
    : Variant(std::move(algorithm), std::move(variant)),
      near_(std::move(near)),
      collective_(collective),
      rounds_(rounds),
      hops_(hops),
      route_(std::move(route)) {}

const Routing& OffsetVariant::routing() const {
  if (!routing_) {
    routing_ = route_(*near_);
    if (routing_->steps().size() != rounds_ || routing_->hops() != hops_)
      fail(Errc::internal, label(), ": announced ", rounds_, " rounds and ", hops_, " hops, made ",
           routing_->steps().size(), " and ", routing_->hops());
  }
  return *routing_;
}

const AllgatherTree& OffsetVariant::tree() const {
  if (!tree_) tree_ = build_allgather_tree(routing());
  return *tree_;
}

std::uint64_t OffsetVariant::dedup_key() const { return Hash().word(rounds_).word(hops_).value(); }

std::size_t OffsetVariant::volume() const {
  return collective_ == Collective::alltoall ? hops_ : tree().volume();
}

Plan OffsetVariant::plan(int rank, EmitOptions options) const {
  return collective_ == Collective::alltoall ? emit_alltoall(routing(), rank, options)
                                             : emit_allgather(routing(), tree(), rank, options);
}

}  // namespace tonari
