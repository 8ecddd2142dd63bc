// SPDX-License-Identifier: BSD-3-Clause
// Every message-combining algorithm of Träff 2016 decides which offsets to step along, in which
// order, and which of these steps each block takes. Everything else (messages, slots, dependencies)
// follows and is shared (emit.hpp).
//
//   offsets   C^0 .. C^{s-1}          steps   B_0 .. B_{D-1}
//
// Block i moves from R to R + C^i along path(i). That is ascending step numbers with sum C^i.
//
//   linear                      There is a step per distinct offset.
//   torus                       Steps are +-1 along one dimension, repeated.
//   torus-direct                There is a step per distinct coordinate.
//   additive-basis,             Fewer steps add up to the offsets.
//   joint-basis
//
// A routing is the same on every rank. Two conditions make it one, as tests check:
//  * Along a periodic dimension a path's sum is congruent to C^i; along a non-periodic one it is
//    equal.
//  * Along a non-periodic dimension all steps of a path have the sign of c_j. Then every hop lies
//    between origin and target. So each rank can tell by itself which forwarded blocks exist (no
//    hop can leave the mesh).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topology/neighborhood.hpp"

namespace tonari {

class Routing {
 public:
  explicit Routing(const Neighborhood& near) : near_(&near) { path_begin_.push_back(0); }

  // Building: steps first, then the path of block 0, 1, ... (ascending step numbers; empty for
  // self blocks and for offsets that no rank has).
  std::int32_t add_step(const Vec& step) {
    steps_.push_back(step);
    return static_cast<std::int32_t>(steps_.size() - 1);
  }
  void hop(std::int32_t step) { path_steps_.push_back(step); }
  void end_path() { path_begin_.push_back(static_cast<std::uint32_t>(path_steps_.size())); }

  const Neighborhood& near() const { return *near_; }
  std::size_t blocks() const { return path_begin_.size() - 1; }
  std::span<const Vec> steps() const { return steps_; }
  std::span<const std::int32_t> path(std::size_t i) const {
    return std::span(path_steps_).subspan(path_begin_[i], path_begin_[i + 1] - path_begin_[i]);
  }
  std::size_t hops() const { return path_steps_.size(); }  // V: blocks sent per rank by all-to-all

 private:
  const Neighborhood* near_;
  std::vector<Vec> steps_;
  std::vector<std::uint32_t> path_begin_;
  std::vector<std::int32_t> path_steps_;
};

// The offsets as the planners see them: shortest along periodic dimensions, and zero (nothing to
// route) where no rank of the grid has that neighbor.
inline std::vector<Vec> routable_offsets(const Neighborhood& near) {
  std::vector<Vec> offsets;
  offsets.reserve(near.offsets.size());
  for (const Vec& offset : near.offsets)
    offsets.push_back(near.grid.reachable(offset) ? near.grid.shortest(offset) : Vec{});
  return offsets;
}

}  // namespace tonari
