// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/staged_graph.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tonari {
namespace {

// The argument with the least value so far; the first of equals.
template <class Value>
struct Least {
  int argument = -1;
  Value value = std::numeric_limits<Value>::max();
  bool offer(int a, Value v) {
    if (argument >= 0 && v >= value) return false;
    argument = a;
    value = v;
    return true;
  }
};

// Both halves of a way may pass a rank: what lies between is left out.
void cut_loops(std::vector<StagedEdge>& path) {
  std::size_t kept = 0;
  for (const StagedEdge& edge : std::vector<StagedEdge>(path)) {
    const auto again = std::find_if(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(kept),
                                    [&](const StagedEdge& e) { return e.from == edge.from; });
    kept = static_cast<std::size_t>(again - path.begin());
    path[kept++] = edge;
  }
  const auto arrived = std::find_if(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(kept),
                                    [&](const StagedEdge& e) { return e.to == path[kept - 1].to; });
  path.erase(arrived + 1, path.end());
}

}  // namespace

StagedGraph::StagedGraph(int ranks, int stages)
    : forward_(static_cast<std::size_t>(stages), BitRows(static_cast<std::size_t>(ranks), ranks)),
      backward_(forward_),
      sent_(static_cast<std::size_t>(ranks), 0),
      received_(sent_),
      near_(static_cast<std::size_t>(stages) + 1, ranks),
      beyond_(near_),
      near_back_(near_),
      beyond_back_(near_),
      from_(near_),
      to_(near_) {}

void StagedGraph::add(const StagedEdge& e) {
  known_ = known_back_ = {};
  forward_[e.stage].set(e.from, e.to);
  backward_[e.stage].set(e.to, e.from);
  ++sent_[e.from];
  ++received_[e.to];
}

void StagedGraph::remove(const StagedEdge& e) {
  known_ = known_back_ = {};
  forward_[e.stage].clear(e.from, e.to);
  backward_[e.stage].clear(e.to, e.from);
  --sent_[e.from];
  --received_[e.to];
}

bool StagedGraph::find_path(int a, int b, Load load, Reach reach, std::vector<StagedEdge>& path) {
  return find_short_path(a, b, load, path) ||
         (stages() > 2 && (find_three(a, b, load, path) || find_four(a, b, load, path) ||
                           (reach == Reach::all && find_more(a, b, load, path))));
}

bool StagedGraph::find_short_path(int a, int b, Load load, std::vector<StagedEdge>& path) {
  path.clear();
  for (int k = 0; k < stages(); ++k)
    if (const int stage = (a + b + k) % stages(); forward_[stage].test(a, b)) {
      path.push_back({stage, a, b});
      return true;
    }
  return find_two(a, b, load, path);
}

void StagedGraph::reach_near(int a) {
  work_ += forward_.size();
  if (known_.rank == a) return;
  known_ = {a};
  near_.clear_row(0);
  for (int s = 0; s < stages(); ++s) near_.assign_united(s + 1, s, forward_[s], a);
}

void StagedGraph::reach_near_back(int b) {
  work_ += backward_.size();
  if (known_back_.rank == b) return;
  known_back_ = {b};
  near_back_.clear_row(stages());
  for (int s = stages() - 1; s >= 0; --s) near_back_.assign_united(s, s + 1, backward_[s], b);
}

StagedEdge StagedGraph::first_edge(int a, int via) const {
  int s = 0;
  while (!forward_[s].test(a, via)) ++s;
  return {s, a, via};
}

StagedEdge StagedGraph::last_edge(int via, int b, int after) const {
  int s = after + 1;
  while (!backward_[s].test(b, via)) ++s;
  return {s, via, b};
}

bool StagedGraph::find_two(int a, int b, Load load, std::vector<StagedEdge>& path) {
  reach_near_back(b);
  Least<std::uint64_t> best;
  int stage = 0;
  for (int s = 0; s + 1 < stages(); ++s)
    forward_[s].for_each_common(a, near_back_, s + 1, [&](int via) {
      if (best.offer(via, load[via])) stage = s;
    });
  if (best.argument < 0) return false;
  path.push_back({stage, a, best.argument});
  path.push_back(last_edge(best.argument, b, stage));
  return true;
}

bool StagedGraph::find_three(int a, int b, Load load, std::vector<StagedEdge>& path) {
  reach_near(a);
  Least<std::uint64_t> best;
  StagedEdge middle{};
  for (int s = 1; s + 1 < stages(); ++s)
    near_.for_each_common(s, near_, s, [&](int via) {
      if (best.argument >= 0 && load[via] >= best.value) return;
      ++work_;
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

void StagedGraph::reach_beyond() {
  if (std::exchange(known_.beyond, true)) return;
  beyond_.clear_row(0);
  for (int s = 0; s + 2 < stages(); ++s) {
    beyond_.assign_united(s + 1, s, beyond_, s);
    near_.for_each_common(s, near_, s, [&](int via) {
      ++work_;
      beyond_.unite(s + 1, forward_[s], via);
    });
  }
}

void StagedGraph::reach_beyond_back() {
  if (std::exchange(known_back_.beyond, true)) return;
  beyond_back_.clear_row(stages());
  for (int s = stages() - 1; s >= 2; --s) {
    beyond_back_.assign_united(s, s + 1, beyond_back_, s + 1);
    near_back_.for_each_common(s + 1, near_back_, s + 1, [&](int via) {
      ++work_;
      beyond_back_.unite(s, backward_[s], via);
    });
  }
}

// Two edges from each end meet between two stages.
bool StagedGraph::find_four(int a, int b, Load load, std::vector<StagedEdge>& path) {
  if (stages() < 4) return false;
  reach_beyond();
  reach_beyond_back();
  Least<std::uint64_t> meeting;
  int stage = 0;
  for (int s = 2; s + 2 <= stages(); ++s)
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
  for (int s = stage; s + 1 < stages(); ++s)
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
bool StagedGraph::find_more(int a, int b, Load load, std::vector<StagedEdge>& path) {
  if (stages() < 5) return false;
  const int middle = stages() / 2;
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
  for (int s = middle; s < stages(); ++s) {
    if (to_.test(s + 1, at)) continue;
    Least<std::uint64_t> next;
    to_.for_each_common(s + 1, forward_[s], at, [&](int via) { next.offer(via, load[via]); });
    path.push_back({s, at, next.argument});
    at = next.argument;
  }
  cut_loops(path);
  return true;
}

void StagedGraph::spread(int stages, int a) {
  from_.clear_row(0);
  from_.set(0, a);
  for (int s = 0; s < stages; ++s) {
    from_.clear_row(s + 1);
    from_.unite(s + 1, from_, s);
    from_.for_each_common(s, from_, s, [&](int via) {
      ++work_;
      from_.unite(s + 1, forward_[s], via);
    });
  }
}

void StagedGraph::spread_back(int first, int b) {
  to_.clear_row(stages());
  to_.set(stages(), b);
  for (int s = stages() - 1; s >= first; --s) {
    to_.clear_row(s);
    to_.unite(s, to_, s + 1);
    to_.for_each_common(s + 1, to_, s + 1, [&](int via) {
      ++work_;
      to_.unite(s, backward_[s], via);
    });
  }
}

bool StagedGraph::find_missing(int a, int b, int most, StagedEdge& edge) {
  spread(stages(), a);
  spread_back(0, b);
  Least<int> best;
  for (int s = 0; s < stages(); ++s) {
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
