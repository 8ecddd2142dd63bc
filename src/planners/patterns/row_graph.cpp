// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/row_graph.hpp"

#include <algorithm>
#include <utility>

namespace tonari {

RowGraph::RowGraph(const CommunicationMatrix& pattern, int stages)
    : StagedGraph(pattern.ranks(), stages),
      forward_(static_cast<std::size_t>(stages), BitRows(sent_.size(), pattern.ranks())),
      backward_(forward_),
      needs_(sent_.size(), pattern.ranks()),
      needed_by_(needs_),
      near_(static_cast<std::size_t>(stages) + 1, pattern.ranks()),
      beyond_(near_),
      near_back_(near_),
      beyond_back_(near_),
      from_(near_),
      to_(near_) {
  for (BlockNumber b = 0; b < pattern.blocks(); ++b) {
    needs_.set(static_cast<std::size_t>(pattern.origin(b)), pattern.target(b));
    needed_by_.set(static_cast<std::size_t>(pattern.target(b)), pattern.origin(b));
  }
}

void RowGraph::put(const StagedEdge& e) {
  known_ = known_back_ = {};
  forward_[e.stage].set(e.from, e.to);
  backward_[e.stage].set(e.to, e.from);
}

void RowGraph::drop(const StagedEdge& e) {
  known_ = known_back_ = {};
  forward_[e.stage].clear(e.from, e.to);
  backward_[e.stage].clear(e.to, e.from);
}

void RowGraph::list_out(int rank, std::vector<StagedEdge>& edges) const {
  for (int s = 0; s < stages_; ++s)
    forward_[s].for_each_common(rank, forward_[s], rank,
                                [&](int other) { edges.push_back({s, rank, other}); });
}

void RowGraph::list_in(int rank, std::vector<StagedEdge>& edges) const {
  for (int s = 0; s < stages_; ++s)
    backward_[s].for_each_common(rank, backward_[s], rank,
                                 [&](int other) { edges.push_back({s, other, rank}); });
}

int RowGraph::pairs_over(const StagedEdge& e) {
  int pairs = 0;
  for (int s = e.stage + 1; s < stages_; ++s)
    pairs += forward_[s].count_common(e.to, needs_, e.from);
  for (int s = 0; s < e.stage; ++s) pairs += backward_[s].count_common(e.from, needed_by_, e.to);
  look(static_cast<std::size_t>(stages_));
  return pairs;
}

bool RowGraph::find_short_path(int a, int b, Load load, std::vector<StagedEdge>& path) {
  path.clear();
  for (int k = 0; k < stages_; ++k)
    if (const int stage = (a + b + k) % stages_; forward_[stage].test(a, b)) {
      path.push_back({stage, a, b});
      return true;
    }
  return find_two(a, b, load, path);
}

void RowGraph::reach_near(int a) {
  look(forward_.size());
  if (known_.rank == a) return;
  known_ = {a};
  near_.clear_row(0);
  for (int s = 0; s < stages_; ++s) near_.assign_united(s + 1, s, forward_[s], a);
}

void RowGraph::reach_near_back(int b) {
  look(backward_.size());
  if (known_back_.rank == b) return;
  known_back_ = {b};
  near_back_.clear_row(stages_);
  for (int s = stages_ - 1; s >= 0; --s) near_back_.assign_united(s, s + 1, backward_[s], b);
}

StagedEdge RowGraph::first_edge(int a, int via) const {
  int s = 0;
  while (!forward_[s].test(a, via)) ++s;
  return {s, a, via};
}

StagedEdge RowGraph::last_edge(int via, int b, int after) const {
  int s = after + 1;
  while (!backward_[s].test(b, via)) ++s;
  return {s, via, b};
}

bool RowGraph::find_two(int a, int b, Load load, std::vector<StagedEdge>& path) {
  reach_near_back(b);
  Least<std::uint64_t> best;
  int stage = 0;
  for (int s = 0; s + 1 < stages_; ++s)
    forward_[s].for_each_common(a, near_back_, s + 1, [&](int via) {
      if (best.offer(via, load[via])) stage = s;
    });
  if (best.argument < 0) return false;
  path.push_back({stage, a, best.argument});
  path.push_back(last_edge(best.argument, b, stage));
  return true;
}

bool RowGraph::find_three(int a, int b, Load load, std::vector<StagedEdge>& path) {
  reach_near(a);
  Least<std::uint64_t> best;
  StagedEdge middle{};
  for (int s = 1; s + 1 < stages_; ++s)
    near_.for_each_common(s, near_, s, [&](int via) {
      if (best.argument >= 0 && load[via] >= best.value) return;
      look(1);
      Least<std::uint64_t> next;
      forward_[s].for_each_common(via, near_back_, s + 1,
                                  [&](int rank) { next.offer(rank, load[rank]); });
      if (next.argument >= 0 && best.offer(via, load[via])) middle = {s, via, next.argument};
    });
  if (best.argument < 0) return false;
  path.push_back(first_edge(a, middle.from));
  path.push_back(middle);
  path.push_back(last_edge(middle.to, b, middle.stage));
  return true;
}

void RowGraph::reach_beyond() {
  if (std::exchange(known_.beyond, true)) return;
  beyond_.clear_row(0);
  for (int s = 0; s + 2 < stages_; ++s) {
    beyond_.assign_united(s + 1, s, beyond_, s);
    near_.for_each_common(s, near_, s, [&](int via) {
      look(1);
      beyond_.unite(s + 1, forward_[s], via);
    });
  }
}

void RowGraph::reach_beyond_back() {
  if (std::exchange(known_back_.beyond, true)) return;
  beyond_back_.clear_row(stages_);
  for (int s = stages_ - 1; s >= 2; --s) {
    beyond_back_.assign_united(s, s + 1, beyond_back_, s + 1);
    near_back_.for_each_common(s + 1, near_back_, s + 1, [&](int via) {
      look(1);
      beyond_back_.unite(s, backward_[s], via);
    });
  }
}

// Two edges from each end meet between two stages.
bool RowGraph::find_four(int a, int b, Load load, std::vector<StagedEdge>& path) {
  if (stages_ < 4) return false;
  reach_beyond();
  reach_beyond_back();
  Least<std::uint64_t> meeting;
  int stage = 0;
  for (int s = 2; s + 2 <= stages_; ++s)
    beyond_.for_each_common(s, beyond_back_, s, [&](int via) {
      if (meeting.offer(via, load[via])) stage = s;
    });
  if (meeting.argument < 0) return false;
  Least<std::uint64_t> before, next;
  int second = 0, third = 0;
  for (int s = 1; s < stage; ++s)
    near_.for_each_common(s, backward_[s], meeting.argument, [&](int via) {
      if (before.offer(via, load[via])) second = s;
    });
  for (int s = stage; s + 1 < stages_; ++s)
    near_back_.for_each_common(s + 1, forward_[s], meeting.argument, [&](int via) {
      if (next.offer(via, load[via])) third = s;
    });
  path.push_back(first_edge(a, before.argument));
  path.push_back({second, before.argument, meeting.argument});
  path.push_back({third, meeting.argument, next.argument});
  path.push_back(last_edge(next.argument, b, third));
  return true;
}

// Ends meet in the middle: every path is somewhere before the middle stage.
bool RowGraph::find_more(int a, int b, Load load, std::vector<StagedEdge>& path) {
  if (stages_ < 5) return false;
  const int middle = stages_ / 2;
  spread(middle, a);
  spread_back(middle, b);
  Least<std::uint64_t> meeting;
  from_.for_each_common(middle, to_, middle, [&](int via) { meeting.offer(via, load[via]); });
  if (meeting.argument < 0) return false;
  int at = meeting.argument;
  for (int s = middle - 1; s >= 0; --s) {
    if (from_.test(s, at)) continue;
    Least<std::uint64_t> before;
    from_.for_each_common(s, backward_[s], at, [&](int via) { before.offer(via, load[via]); });
    path.push_back({s, before.argument, at});
    at = before.argument;
  }
  std::reverse(path.begin(), path.end());
  at = meeting.argument;
  for (int s = middle; s < stages_; ++s) {
    if (to_.test(s + 1, at)) continue;
    Least<std::uint64_t> next;
    to_.for_each_common(s + 1, forward_[s], at, [&](int via) { next.offer(via, load[via]); });
    path.push_back({s, at, next.argument});
    at = next.argument;
  }
  cut_loops(path);
  return true;
}

void RowGraph::spread(int stages, int a) {
  from_.clear_row(0);
  from_.set(0, a);
  for (int s = 0; s < stages; ++s) {
    from_.clear_row(s + 1);
    from_.unite(s + 1, from_, s);
    from_.for_each_common(s, from_, s, [&](int via) {
      look(1);
      from_.unite(s + 1, forward_[s], via);
    });
  }
}

void RowGraph::spread_back(int first, int b) {
  to_.clear_row(stages_);
  to_.set(stages_, b);
  for (int s = stages_ - 1; s >= first; --s) {
    to_.clear_row(s);
    to_.unite(s, to_, s + 1);
    to_.for_each_common(s + 1, to_, s + 1, [&](int via) {
      look(1);
      to_.unite(s, backward_[s], via);
    });
  }
}

bool RowGraph::find_missing(int a, int b, int most, StagedEdge& edge) {
  spread(stages_, a);
  spread_back(0, b);
  Least<int> best;
  for (int s = 0; s < stages_; ++s) {
    Least<int> tail, head;
    from_.for_each_common(s, from_, s, [&](int rank) { tail.offer(rank, sent_[rank]); });
    to_.for_each_common(s + 1, to_, s + 1, [&](int rank) { head.offer(rank, received_[rank]); });
    if (tail.value >= most || head.value >= most || tail.argument == head.argument) continue;
    const int busy = std::max(tail.value, head.value);
    if (best.argument >= 0 && busy >= best.value) continue;
    best.offer(s, busy);
    edge = {s, tail.argument, head.argument};
  }
  return best.argument >= 0;
}

}  // namespace tonari
