// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/list_graph.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tonari {

ListGraph::ListGraph(const CommunicationMatrix& pattern, int stages)
    : StagedGraph(pattern.ranks(), stages),
      out_(sent_.size()),
      in_(out_),
      needs_(sent_.size(), pattern.ranks()),
      near_{std::vector<std::int16_t>(sent_.size(), not_yet), {}},
      beyond_(near_),
      near_back_{std::vector<std::int16_t>(sent_.size(), too_late), {}},
      beyond_back_(near_back_),
      from_(sent_.size(), not_yet),
      to_(sent_.size(), too_late),
      by_stage_(static_cast<std::size_t>(stages) + 1) {
  for (BlockNumber b = 0; b < pattern.blocks(); ++b)
    needs_.set(static_cast<std::size_t>(pattern.origin(b)), pattern.target(b));
}

void ListGraph::put(const StagedEdge& e) {
  known_ = known_back_ = known_from_ = known_to_ = {};
  const auto insert = [](Neighbors& all, Neighbor n) {
    all.insert(std::lower_bound(all.begin(), all.end(), n), n);
  };
  const auto stage = static_cast<std::uint16_t>(e.stage);
  insert(out_[e.from], {stage, static_cast<std::uint16_t>(e.to)});
  insert(in_[e.to], {stage, static_cast<std::uint16_t>(e.from)});
}

void ListGraph::drop(const StagedEdge& e) {
  known_ = known_back_ = known_from_ = known_to_ = {};
  const auto erase = [](Neighbors& all, Neighbor n) {
    all.erase(std::lower_bound(all.begin(), all.end(), n));
  };
  const auto stage = static_cast<std::uint16_t>(e.stage);
  erase(out_[e.from], {stage, static_cast<std::uint16_t>(e.to)});
  erase(in_[e.to], {stage, static_cast<std::uint16_t>(e.from)});
}

bool ListGraph::open(const StagedEdge& e) const {
  const Neighbors& all = out_[e.from];
  return std::binary_search(
      all.begin(), all.end(),
      Neighbor{static_cast<std::uint16_t>(e.stage), static_cast<std::uint16_t>(e.to)});
}

void ListGraph::list_out(int rank, std::vector<StagedEdge>& edges) const {
  for (const Neighbor n : out_[rank]) edges.push_back({n.stage, rank, n.rank});
}

void ListGraph::list_in(int rank, std::vector<StagedEdge>& edges) const {
  for (const Neighbor n : in_[rank]) edges.push_back({n.stage, n.rank, rank});
}

int ListGraph::pairs_over(const StagedEdge& e) {
  const Neighbors &after = out_[e.to], &before = in_[e.from];
  work_ += after.size() + before.size();
  int pairs = 0;
  for (const Neighbor n : after)
    pairs += n.stage > e.stage && needs_.test(static_cast<std::size_t>(e.from), n.rank);
  for (const Neighbor n : before) pairs += n.stage < e.stage && needs_.test(n.rank, e.to);
  return pairs;
}

bool ListGraph::find_short_path(int a, int b, Load load, std::vector<StagedEdge>& path) {
  path.clear();
  reach_near_back(b);
  return find_one(a, b, path) || find_two(a, b, load, path);
}

bool ListGraph::find_one(int a, int b, std::vector<StagedEdge>& path) {
  if (near_back_.of[a] == too_late) return false;
  const int first = (a + b) % stages_;
  Least<int> best;
  const bool out = out_[a].size() < in_[b].size();
  for (const Neighbor n : out ? out_[a] : in_[b])
    if (n.rank == (out ? b : a)) best.offer(n.stage, (n.stage + stages_ - first) % stages_);
  path.push_back({best.argument, a, b});
  return true;
}

void ListGraph::reach_near(int a) {
  if (known_.rank == a) return;
  known_ = {a};
  near_.clear(not_yet);
  work_ += out_[a].size();
  for (const Neighbor n : out_[a]) {  // ascending by stage
    if (near_.of[n.rank] != not_yet) continue;
    near_.of[n.rank] = static_cast<std::int16_t>(n.stage + 1);
    near_.known.push_back(n.rank);
  }
}

void ListGraph::reach_near_back(int b) {
  if (known_back_.rank == b) return;
  known_back_ = {b};
  near_back_.clear(too_late);
  work_ += in_[b].size();
  for (const Neighbor n : in_[b]) {
    if (near_back_.of[n.rank] == too_late) near_back_.known.push_back(n.rank);
    near_back_.of[n.rank] = static_cast<std::int16_t>(n.stage);
  }
}

StagedEdge ListGraph::last_edge(int via, int b, int after) const {
  for (const Neighbor n : in_[b])
    if (n.rank == via && n.stage > after) return {n.stage, via, b};
  return {stages_, via, b};  // there is one
}

bool ListGraph::find_two(int a, int b, Load load, std::vector<StagedEdge>& path) {
  Least<std::uint64_t> best;
  int stage = 0;
  work_ += out_[a].size();
  for (const Neighbor n : out_[a])
    if (near_back_.of[n.rank] > n.stage && best.offer(n.rank, load[n.rank])) stage = n.stage;
  if (best.argument < 0) return false;
  path.push_back({stage, a, best.argument});
  path.push_back(last_edge(best.argument, b, stage));
  return true;
}

// Of equal load by the first stage, then the lowest rank.
bool ListGraph::find_three(int a, int b, Load load, std::vector<StagedEdge>& path) {
  reach_near(a);
  std::tuple<std::uint64_t, int, int> best{~std::uint64_t{0}, stages_, 0};
  StagedEdge middle{-1, 0, 0};
  for (const std::int32_t via : near_.known) {
    if (load[via] > std::get<0>(best)) continue;
    Least<std::uint64_t> next;
    int stage = stages_;
    for (const Neighbor n : out_[via]) {
      ++work_;
      if (n.stage > stage) break;
      if (n.stage < near_.of[via] || near_back_.of[n.rank] <= n.stage) continue;
      stage = n.stage;
      next.offer(n.rank, load[n.rank]);
    }
    if (next.argument < 0 || std::tuple(load[via], stage, int{via}) >= best) continue;
    best = {load[via], stage, via};
    middle = {stage, via, next.argument};
  }
  if (middle.stage < 0) return false;
  path.push_back(first_edge(a, middle.from));
  path.push_back(middle);
  path.push_back(last_edge(middle.to, b, middle.stage));
  return true;
}

void ListGraph::reach_beyond() {
  if (std::exchange(known_.beyond, true)) return;
  beyond_.clear(not_yet);
  for (const std::int32_t via : near_.known) {
    work_ += out_[via].size();
    for (const Neighbor n : out_[via]) {
      if (n.stage < near_.of[via]) continue;
      if (beyond_.of[n.rank] == not_yet) beyond_.known.push_back(n.rank);
      beyond_.of[n.rank] = std::min(beyond_.of[n.rank], static_cast<std::int16_t>(n.stage + 1));
    }
  }
}

void ListGraph::reach_beyond_back() {
  if (std::exchange(known_back_.beyond, true)) return;
  beyond_back_.clear(too_late);
  for (const std::int32_t via : near_back_.known) {
    work_ += in_[via].size();
    for (const Neighbor n : in_[via]) {
      if (n.stage >= near_back_.of[via]) break;
      if (beyond_back_.of[n.rank] == too_late) beyond_back_.known.push_back(n.rank);
      beyond_back_.of[n.rank] =
          std::max(beyond_back_.of[n.rank], static_cast<std::int16_t>(n.stage));
    }
  }
}

// Two edges from each end meet between two stages. Of equal load as before.
bool ListGraph::find_four(int a, int b, Load load, std::vector<StagedEdge>& path) {
  if (stages_ < 4) return false;
  reach_beyond();
  reach_beyond_back();
  using Meeting = std::tuple<std::uint64_t, int, int>;  // load, stage, rank
  constexpr Meeting none{~std::uint64_t{0}, not_yet, 0};
  Meeting meeting = none, before = none, next = none;
  work_ += beyond_.known.size();
  for (const std::int32_t via : beyond_.known)
    if (beyond_back_.of[via] >= beyond_.of[via])
      meeting = std::min(meeting, Meeting(load[via], beyond_.of[via], via));
  if (meeting == none) return false;
  const auto [words, stage, rank] = meeting;
  for (const Neighbor n : in_[rank])
    if (n.stage < stage && near_.of[n.rank] <= n.stage)
      before = std::min(before, Meeting(load[n.rank], n.stage, n.rank));
  for (const Neighbor n : out_[rank])
    if (n.stage >= stage && near_back_.of[n.rank] > n.stage)
      next = std::min(next, Meeting(load[n.rank], n.stage, n.rank));
  const int second = std::get<2>(before), third = std::get<2>(next);
  path.push_back(first_edge(a, second));
  path.push_back({std::get<1>(before), second, rank});
  path.push_back({std::get<1>(next), rank, third});
  path.push_back(last_edge(third, b, std::get<1>(next)));
  return true;
}

// Ends meet in the middle: every path is somewhere before the middle stage.
bool ListGraph::find_more(int a, int b, Load load, std::vector<StagedEdge>& path) {
  if (stages_ < 5) return false;
  const int middle = stages_ / 2;
  spread(middle, a);
  spread_back(middle, b);
  Least<std::uint64_t> meeting;
  for (std::size_t rank = 0; rank < from_.size(); ++rank)
    if (from_[rank] <= middle && to_[rank] >= middle)
      meeting.offer(static_cast<int>(rank), load[rank]);
  if (meeting.argument < 0) return false;
  int at = meeting.argument;
  for (int s = middle - 1; s >= 0; --s) {
    if (from_[at] <= s) continue;
    Least<std::uint64_t> before;
    for (const Neighbor n : in_[at])
      if (n.stage == s && from_[n.rank] <= s) before.offer(n.rank, load[n.rank]);
    path.push_back({s, before.argument, at});
    at = before.argument;
  }
  std::reverse(path.begin(), path.end());
  at = meeting.argument;
  for (int s = middle; s < stages_; ++s) {
    if (to_[at] >= s + 1) continue;
    Least<std::uint64_t> next;
    for (const Neighbor n : out_[at])
      if (n.stage == s && to_[n.rank] >= s + 1) next.offer(n.rank, load[n.rank]);
    path.push_back({s, at, next.argument});
    at = next.argument;
  }
  cut_loops(path);
  return true;
}

// Ranks in the order of the stages before which a block comes there. What is known for fewer stages
// is where it goes on.
void ListGraph::spread(int stages, int a) {
  const bool known = known_from_.rank == a;
  if (known && known_from_.bound >= stages) return;
  const int begin = known ? known_from_.bound : 0;
  known_from_ = {a, stages};
  if (!known) {
    std::ranges::fill(from_, not_yet);
    from_[a] = 0;
  }
  for (std::size_t rank = 0; rank < from_.size(); ++rank)
    if (from_[rank] <= begin) by_stage_[begin].push_back(static_cast<std::int32_t>(rank));
  for (int s = begin; s <= stages; ++s) {
    for (const std::int32_t rank : by_stage_[s]) {
      if (s > begin && from_[rank] < s) continue;  // came earlier by another edge
      work_ += out_[rank].size();
      for (const Neighbor n : out_[rank]) {
        if (n.stage >= stages) break;
        if (n.stage < s || n.stage + 1 >= from_[n.rank]) continue;
        from_[n.rank] = static_cast<std::int16_t>(n.stage + 1);
        by_stage_[n.stage + 1].push_back(n.rank);
      }
    }
    by_stage_[s].clear();
  }
}

void ListGraph::spread_back(int first, int b) {
  const bool known = known_to_.rank == b;
  if (known && known_to_.bound <= first) return;
  const int begin = known ? known_to_.bound : stages_;
  known_to_ = {b, first};
  if (!known) {
    std::ranges::fill(to_, too_late);
    to_[b] = static_cast<std::int16_t>(stages_);
  }
  for (std::size_t rank = 0; rank < to_.size(); ++rank)
    if (to_[rank] >= begin) by_stage_[begin].push_back(static_cast<std::int32_t>(rank));
  for (int s = begin; s >= first; --s) {
    for (const std::int32_t rank : by_stage_[s]) {
      if (s < begin && to_[rank] > s) continue;
      work_ += in_[rank].size();
      for (const Neighbor n : in_[rank]) {
        if (n.stage >= s) break;
        if (n.stage < first || n.stage <= to_[n.rank]) continue;
        to_[n.rank] = static_cast<std::int16_t>(n.stage);
        by_stage_[n.stage].push_back(n.rank);
      }
    }
    by_stage_[s].clear();
  }
}

void ListGraph::choose_tails(std::vector<Choice>& tails) const {
  tails.assign(static_cast<std::size_t>(stages_) + 1, {std::numeric_limits<int>::max(), -1});
  for (std::size_t rank = 0; rank < from_.size(); ++rank) {
    if (from_[rank] == not_yet) continue;
    Choice& tail = tails[static_cast<std::size_t>(from_[rank])];
    tail = std::min(tail, Choice(sent_[rank], static_cast<int>(rank)));
  }
  for (std::size_t s = 1; s < tails.size(); ++s) tails[s] = std::min(tails[s], tails[s - 1]);
}

void ListGraph::choose_heads(std::vector<Choice>& heads) const {
  heads.assign(static_cast<std::size_t>(stages_) + 1, {std::numeric_limits<int>::max(), -1});
  for (std::size_t rank = 0; rank < to_.size(); ++rank) {
    if (to_[rank] == too_late) continue;
    Choice& head = heads[static_cast<std::size_t>(to_[rank])];
    head = std::min(head, Choice(received_[rank], static_cast<int>(rank)));
  }
  for (std::size_t s = heads.size() - 1; s > 0; --s)
    heads[s - 1] = std::min(heads[s], heads[s - 1]);
}

bool ListGraph::find_missing(int a, int b, int most, StagedEdge& edge) {
  if (*std::ranges::min_element(sent_) >= most || *std::ranges::min_element(received_) >= most)
    return false;
  spread(stages_, a);
  choose_tails(tails_);
  if (tails_[static_cast<std::size_t>(stages_) - 1].first >= most) return false;
  spread_back(0, b);
  choose_heads(heads_);
  int best = most;
  for (int s = 0; s < stages_; ++s) {
    const auto [sends, tail] = tails_[static_cast<std::size_t>(s)];
    const auto [receives, head] = heads_[static_cast<std::size_t>(s) + 1];
    if (std::max(sends, receives) >= best || tail == head) continue;
    best = std::max(sends, receives);
    edge = {s, tail, head};
  }
  return best < most;
}

}  // namespace tonari
