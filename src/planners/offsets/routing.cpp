// SPDX-License-Identifier: BSD-3-Clause
#include "planners/offsets/routing.hpp"

#include "base/error.hpp"

namespace tonari {

std::int32_t Routing::add_step(const Vec& step) {
  steps_.push_back(step);
  return static_cast<std::int32_t>(steps_.size() - 1);
}

namespace {
void check_path(const Routing& routing, std::size_t i) {
  const Grid& grid = routing.near().grid;
  const Vec& offset = routing.near().offsets[i];
  Vec sum;
  std::int32_t last = -1;
  for (std::int32_t step : routing.path(i)) {
    if (step <= last) fail(Errc::internal, "routing: the steps of block ", i, " are not ascending");
    last = step;
    const Vec& b = routing.steps()[step];
    sum = sum + b;
    for (int j = 0; j < grid.dimensions(); ++j)
      if (!grid.periodic(j) && b[j] != 0 && (b[j] > 0) != (offset[j] > 0))
        fail(Errc::internal, "routing: block ", i, " turns back along the non-periodic dimension ",
             j);
  }
  if (grid.reachable(offset) && !grid.shortest(sum - offset).is_zero())
    fail(Errc::internal, "routing: the path of block ", i, " does not end at its target");
}
}  // namespace

void Routing::check() const {
  if (blocks() != near_->offsets.size())
    fail(Errc::internal, "routing: ", blocks(), " paths for ", near_->offsets.size(), " blocks");
  for (std::size_t i = 0; i < blocks(); ++i) check_path(*this, i);
  for (const Vec& step : steps_)
    if (near_->grid.shortest(step).is_zero()) fail(Errc::internal, "routing: a step goes nowhere");
}

std::vector<Vec> routable_offsets(const Neighborhood& near) {
  std::vector<Vec> offsets;
  offsets.reserve(near.offsets.size());
  for (const Vec& offset : near.offsets)
    offsets.push_back(near.grid.reachable(offset) ? near.grid.shortest(offset) : Vec{});
  return offsets;
}

}  // namespace tonari
