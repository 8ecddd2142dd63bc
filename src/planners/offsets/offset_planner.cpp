#include "planners/offsets/offset_planner.hpp"

#include "base/error.hpp"

namespace tonari {

Schedule::Schedule(std::string algorithm, std::string variant,
                   std::shared_ptr<const Neighborhood> near, Collective collective,
                   std::size_t rounds, std::size_t hops, Route route)
    : algorithm_(std::move(algorithm)),
      variant_(std::move(variant)),
      near_(std::move(near)),
      collective_(collective),
      rounds_(rounds),
      hops_(hops),
      route_(std::move(route)) {}

const Routing& Schedule::routing() const {
  if (!routing_) {
    routing_ = route_(*near_);
    if (routing_->steps().size() != rounds_ || routing_->hops() != hops_)
      fail(Errc::internal, label(), ": announced ", rounds_, " rounds and ", hops_, " hops, made ",
           routing_->steps().size(), " and ", routing_->hops());
  }
  return *routing_;
}

const Tree& Schedule::tree() const {
  if (!tree_) tree_ = build_tree(routing());
  return *tree_;
}

std::size_t Schedule::volume() const {
  return collective_ == Collective::alltoall ? hops_ : tree().volume();
}

Plan Schedule::plan(int rank, EmitOptions options) const {
  return collective_ == Collective::alltoall ? emit_alltoall(routing(), rank, options)
                                             : emit_allgather(routing(), tree(), rank, options);
}

}  // namespace tonari
