// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/staged_graph.hpp"

#include <algorithm>
#include <limits>

namespace tonari {
namespace {

// The argument with the least value so far; the first of equals.
template <class Value>
struct Least {
  int argument = -1;
  Value value = std::numeric_limits<Value>::max();
  void offer(int a, Value v) {
    if (argument < 0 || v < value) argument = a, value = v;
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
      from_(static_cast<std::size_t>(stages) + 1, ranks),
      to_(from_) {}

void StagedGraph::add(const StagedEdge& e) {
  forward_[e.stage].set(e.from, e.to);
  backward_[e.stage].set(e.to, e.from);
  ++sent_[e.from];
  ++received_[e.to];
}

void StagedGraph::remove(const StagedEdge& e) {
  forward_[e.stage].clear(e.from, e.to);
  backward_[e.stage].clear(e.to, e.from);
  --sent_[e.from];
  --received_[e.to];
}

bool StagedGraph::find_path(int a, int b, std::span<const std::uint64_t> load,
                            std::vector<StagedEdge>& path) {
  return find_short_path(a, b, load, path) || (stages() > 2 && through_many(a, b, load, path));
}

bool StagedGraph::find_short_path(int a, int b, std::span<const std::uint64_t> load,
                                  std::vector<StagedEdge>& path) const {
  path.clear();
  for (int k = 0; k < stages(); ++k)
    if (const int stage = (a + b + k) % stages(); forward_[stage].test(a, b)) {
      path.push_back({stage, a, b});
      return true;
    }
  return through_one(a, b, load, path);
}

bool StagedGraph::through_one(int a, int b, std::span<const std::uint64_t> load,
                              std::vector<StagedEdge>& path) const {
  Least<std::uint64_t> best;
  int first = 0, second = 0;
  for (int s = 0; s < stages(); ++s)
    for (int u = s + 1; u < stages(); ++u)
      forward_[s].for_each_common(a, backward_[u], b, [&](int via) {
        if (best.argument >= 0 && load[via] >= best.value) return;
        best.offer(via, load[via]);
        first = s;
        second = u;
      });
  if (best.argument < 0) return false;
  path.push_back({first, a, best.argument});
  path.push_back({second, best.argument, b});
  return true;
}

// Ends meet in the middle: every path is somewhere before the middle stage.
bool StagedGraph::through_many(int a, int b, std::span<const std::uint64_t> load,
                               std::vector<StagedEdge>& path) {
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
    from_.for_each_common(s, from_, s, [&](int via) { from_.unite(s + 1, forward_[s], via); });
  }
}

void StagedGraph::spread_back(int first, int b) {
  to_.clear_row(stages());
  to_.set(stages(), b);
  for (int s = stages() - 1; s >= first; --s) {
    to_.clear_row(s);
    to_.unite(s, to_, s + 1);
    to_.for_each_common(s + 1, to_, s + 1, [&](int via) { to_.unite(s, backward_[s], via); });
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
