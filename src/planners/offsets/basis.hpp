// SPDX-License-Identifier: BSD-3-Clause
// Additive bases of sets of integers (Träff 2016, §5): few numbers such that every wanted one is a
// sum of distinct ones.
//
// Fewer numbers mean fewer rounds, more summands mean more volume. For one dimension, front() lists
// what cannot be improved in both:
//   {-3..3}: {1,2,-3} (3 rounds)  ..  {-3,-2,-1,1,2,3} (6 rounds, every coordinate one summand)
#pragma once

#include <cstdint>
#include <vector>

#include "planners/offsets/axis.hpp"

namespace tonari {

// How sums may be formed along one dimension.
struct SumRule {
  std::int64_t modulus = 0;  // sums count modulo this (periodic dimension), 0: as integers
  // summands must have the sign of the sum (non-periodic dimension: no hop may leave the mesh)
  bool one_sign = false;
};

// The cheapest sums (fewest summands, counted with the number of blocks) over a given basis; empty
// sums if some coordinate is out of reach.
Axis sums_over(const std::vector<std::int32_t>& basis, const Coordinates& wanted, SumRule rule);

// Pareto-optimal axes, fewest rounds first. Exhaustive while the candidate numbers are few, else
// from known families (binary, balanced binary, mixed radix); bounded by counting, not by time, so
// that all ranks find the same.
std::vector<Axis> front(const Coordinates& wanted, SumRule rule);

}  // namespace tonari
