// SPDX-License-Identifier: BSD-3-Clause
// Breaks finished plans in ways that the builder refuses, to see that the reference executor
// notices. A plan cannot be changed from outside; here its members are reached through explicit
// instantiation, which may name what is private.
#pragma once

#include <algorithm>

#include "plan/plan.hpp"

namespace tonari::test {

template <class Tag, auto Member>
struct Reach {
  friend auto& reach(Tag, Plan& plan) { return plan.*Member; }
};
struct Operations {
  friend auto& reach(Operations, Plan&);
};
struct Slices {
  friend auto& reach(Slices, Plan&);
};
struct Successors {
  friend auto& reach(Successors, Plan&);
};
struct SuccessorBegin {
  friend auto& reach(SuccessorBegin, Plan&);
};
struct PredecessorCounts {
  friend auto& reach(PredecessorCounts, Plan&);
};
template struct Reach<Operations, &Plan::operations_>;
template struct Reach<Slices, &Plan::slices_>;
template struct Reach<Successors, &Plan::successors_>;
template struct Reach<SuccessorBegin, &Plan::successor_begin_>;
template struct Reach<PredecessorCounts, &Plan::predecessor_counts_>;

// The plan with slice k of operation op replaced.
inline Plan with_slice(Plan plan, OpId op, std::size_t k, Slice slice) {
  reach(Slices{}, plan)[plan[op].first_slice + k] = slice;
  return plan;
}

// The plan in which operation op meets another one.
inline Plan with_peer(Plan plan, OpId op, std::int32_t peer, std::int32_t tag) {
  reach(Operations{}, plan)[op].peer = peer;
  reach(Operations{}, plan)[op].tag = tag;
  return plan;
}

inline Plan swapped(Plan plan, OpId op, std::size_t a, std::size_t b) {
  auto& slices = reach(Slices{}, plan);
  std::swap(slices[plan[op].first_slice + a], slices[plan[op].first_slice + b]);
  return plan;
}

// The plan in which `after` no longer waits for `before`, which it did.
inline Plan without_edge(Plan plan, OpId before, OpId after) {
  auto& successors = reach(Successors{}, plan);
  auto& begin = reach(SuccessorBegin{}, plan);
  successors.erase(
      std::find(successors.begin() + begin[before], successors.begin() + begin[before + 1], after));
  for (std::size_t op = before + 1; op < begin.size(); ++op) --begin[op];
  --reach(PredecessorCounts{}, plan)[after];
  return plan;
}

// The plan in which `after` waits for `before` as well.
inline Plan with_edge(Plan plan, OpId before, OpId after) {
  auto& begin = reach(SuccessorBegin{}, plan);
  auto& successors = reach(Successors{}, plan);
  successors.insert(successors.begin() + begin[before + 1], after);
  for (std::size_t op = before + 1; op < begin.size(); ++op) ++begin[op];
  ++reach(PredecessorCounts{}, plan)[after];
  return plan;
}

}  // namespace tonari::test
